"""ScoreView: a sortable table of final scores, as high as its rows. `ScorePanel` has two."""

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

_MAX_ROWS = 12
_NAME_CHARACTERS = 28


class ScoreView(QTableView):
    """Ctrl+C copies the complete table."""

    copy_requested = Signal()

    def __init__(
        self,
        table: QAbstractTableModel,
        name: str,
        samples: Sequence[str],
        theme: ThemeModel,
        *,
        sorted_by: int,
        hide_first: Sequence[int],
        parent: QWidget | None = None,
    ) -> None:
        """`samples` set the column widths; `hide_first` are hidden first on a narrow page."""
        super().__init__(parent)
        self.setTabKeyNavigation(False)
        self._table = table
        self._hide_first = hide_first
        order = _SortModel(self)
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
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        # Qt's indicator covers the text, so the header text contains the arrow.
        header.setSortIndicatorShown(False)
        header.setMinimumSectionSize(self.fontMetrics().height() * 2)
        # Not by contents, because each new score would measure all rows.
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._widths = [self._width_of(column, text) for column, text in enumerate(samples, 1)]
        for column, width in enumerate(self._widths, 1):
            self.setColumnWidth(column, width)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.modelReset.connect(self._fit)
        theme.changed.connect(self.viewport().update)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Hide the least important columns on a narrow page."""
        super().resizeEvent(event)
        available = (
            self.viewport().width() - self.fontMetrics().averageCharWidth() * _NAME_CHARACTERS
        )
        missing = sum(self._widths) - available
        for column in self._hide_first:
            is_hidden = missing > 0
            self.setColumnHidden(column, is_hidden)
            missing -= self._widths[column - 1] if is_hidden else 0

    def _width_of(self, column: int, text: str) -> int:
        header = str(self._table.headerData(column, Qt.Orientation.Horizontal))
        metrics = self.fontMetrics()
        width = max(metrics.horizontalAdvance(f"{header} ↓"), metrics.horizontalAdvance(text))
        return round(width + metrics.height() * 1.5)

    def _fit(self) -> None:
        rows = max(1, min(_MAX_ROWS, self._table.rowCount()))
        row = self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(row * rows + round(self.fontMetrics().height() * 2.2))


class _SortModel(QSortFilterProxyModel):
    """Marks the sorted column in the header."""

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        text: object = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and section == self.sortColumn():
            mark = "↓" if self.sortOrder() == Qt.SortOrder.DescendingOrder else "↑"
            return f"{text} {mark}"
        return text


class _RunDelegate(QStyledItemDelegate):
    """Paints the colour of the run before its name."""

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
