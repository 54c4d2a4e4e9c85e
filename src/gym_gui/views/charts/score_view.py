"""ScoreView: the final scores of all runs in the charts, sortable, as high as its rows."""

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gym_gui.models.chart_scores import GROUP_ROLE, SORT_ROLE, ScoreColumn, ScoresTable
from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.charts.run_colours import run_colour

_MOST_ROWS = 12


class ScoreView(QTableView):
    """Ctrl+C copies all of it."""

    def __init__(
        self, scores: ScoresTable, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._scores = scores
        order = QSortFilterProxyModel(self)
        order.setSourceModel(scores)
        order.setSortRole(SORT_ROLE)
        self.setModel(order)
        self.setItemDelegateForColumn(ScoreColumn.RUN, _RunDelegate(theme, self))
        self.setSortingEnabled(True)
        self.sortByColumn(ScoreColumn.LAST, Qt.SortOrder.DescendingOrder)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setAccessibleName("Final scores")
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(round(self.fontMetrics().height() * 1.8))
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(ScoreColumn.RUN, QHeaderView.ResizeMode.Stretch)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scores.modelReset.connect(self._fit)
        theme.changed.connect(self.viewport().update)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            rows = ("\t".join(row) for row in self._scores.as_rows())
            QGuiApplication.clipboard().setText("\n".join(rows))
        else:
            super().keyPressEvent(event)

    def _fit(self) -> None:
        rows = max(1, min(_MOST_ROWS, self._scores.rowCount()))
        row = self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(row * rows + round(self.fontMetrics().height() * 2.2))


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
