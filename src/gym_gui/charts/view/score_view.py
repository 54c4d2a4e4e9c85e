"""ScoreView: a table of final scores, sortable, as high as its rows. `ScorePanel` has two."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gym_gui.charts.model.chart_scores import GROUP_ROLE, SORT_ROLE
from gym_gui.charts.view.run_colours import run_colour
from gym_gui.runtime.models.theme_model import ThemeModel

_MOST_ROWS = 12
_NAME_CHARACTERS = 28


class ScoreView(QTableView):
    """One table. Ctrl+C copies all of it."""

    copy_wanted = Signal()

    def __init__(
        self,
        table: QAbstractTableModel,
        name: str,
        samples: Sequence[str],
        theme: ThemeModel,
        *,
        sorted_by: int,
        least: Sequence[int],
        parent: QWidget | None = None,
    ) -> None:
        """`samples` say how wide its columns are, `least` which go first where it is narrow."""
        super().__init__(parent)
        self.setTabKeyNavigation(False)
        self._table = table
        self._least = least
        order = _Order(self)
        order.setSourceModel(table)
        order.setSortRole(SORT_ROLE)
        self.setModel(order)
        self.setItemDelegateForColumn(0, _RunDelegate(theme, self))
        self.setSortingEnabled(True)
        self.sortByColumn(sorted_by, Qt.SortOrder.DescendingOrder)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setAccessibleName(name)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(round(self.fontMetrics().height() * 1.8))
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        # Qt's own mark lies over the words: the order says it in the words themselves.
        head.setSortIndicatorShown(False)
        head.setMinimumSectionSize(self.fontMetrics().height() * 2)
        # Not by their contents, which would all be measured with every score that comes in.
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._widths = [self._width_of(column, text) for column, text in enumerate(samples, 1)]
        for column, width in enumerate(self._widths, 1):
            self.setColumnWidth(column, width)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.modelReset.connect(self._fit)
        theme.changed.connect(self.viewport().update)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow, what matters least is left out."""
        super().resizeEvent(event)
        room = self.viewport().width() - self.fontMetrics().averageCharWidth() * _NAME_CHARACTERS
        missing = sum(self._widths) - room
        for column in self._least:
            is_hidden = missing > 0
            self.setColumnHidden(column, is_hidden)
            missing -= self._widths[column - 1] if is_hidden else 0

    def _width_of(self, column: int, text: str) -> int:
        head = str(self._table.headerData(column, Qt.Orientation.Horizontal))
        metrics = self.fontMetrics()
        room = max(metrics.horizontalAdvance(f"{head} ↓"), metrics.horizontalAdvance(text))
        return round(room + metrics.height() * 1.5)

    def _fit(self) -> None:
        rows = max(1, min(_MOST_ROWS, self._table.rowCount()))
        row = self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(row * rows + round(self.fontMetrics().height() * 2.2))


class _Order(QSortFilterProxyModel):
    """Says in the head by which column it goes."""

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        said: object = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and section == self.sortColumn():
            mark = "↓" if self.sortOrder() == Qt.SortOrder.DescendingOrder else "↑"
            return f"{said} {mark}"
        return said


class _RunDelegate(QStyledItemDelegate):
    """The colour of the run before its name."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def initStyleOption(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        line = option.fontMetrics.height()
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
        option.decorationSize = QSize(line, line)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        line = option.fontMetrics.height()
        side = line * 0.6
        rect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(run_colour(int(index.data(GROUP_ROLE)), self._theme.colours)))
        painter.drawRoundedRect(
            QRectF(rect.left() + line * 0.3, rect.center().y() - side / 2 + 1, side, side), 2.5, 2.5
        )
        painter.restore()
