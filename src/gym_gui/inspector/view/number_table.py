"""NumberTable: table view of `ObservationRows`, with a bar from zero to each value."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gym_gui.inspector.model import BAR, BAR_ROLE, NAME, VALUE, ObservationRows
from gym_gui.runtime.models.theme_model import ThemeModel

_MAX_VISIBLE_ROWS = 16
_MAX_VALUE_LENGTH = 16
"""Characters of a value that determine the column width. Numbers are shorter; texts elide."""


class NumberTable(QTableView):
    """As high as its rows, up to `_MAX_VISIBLE_ROWS`; then it scrolls."""

    def __init__(
        self, rows: ObservationRows, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self.setModel(rows)
        self.setItemDelegateForColumn(BAR, _BarDelegate(theme, self))
        self.setAccessibleName("Observation")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().hide()
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(round(line * 1.6))
        header = self.horizontalHeader()
        header.setMinimumSectionSize(line * 2)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(BAR, QHeaderView.ResizeMode.Fixed)
        self._max_length = 0
        rows.modelReset.connect(self._on_reset)
        rows.dataChanged.connect(lambda *_: self._widen_values())
        theme.changed.connect(self.viewport().update)
        self._on_reset()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        rows = min(self.model().rowCount(), _MAX_VISIBLE_ROWS)
        return QSize(line * 16, rows * self.verticalHeader().defaultSectionSize() + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Hide the bars in a narrow dock, so that names fit."""
        line, width = self.fontMetrics().height(), self.viewport().width()
        self.horizontalHeader().resizeSection(BAR, max(line * 3, width // 4))
        self.setColumnHidden(BAR, width < line * 15)
        super().resizeEvent(event)

    def _on_reset(self) -> None:
        self._max_length = 0
        self.horizontalHeader().resizeSection(VALUE, self.fontMetrics().height() * 4)
        self._widen_values()
        self._fit()

    def _widen_values(self) -> None:
        """Widen the column for the longest value. It never shrinks, which avoids flicker."""
        rows, header = self.model(), self.horizontalHeader()
        texts = [str(rows.index(row, VALUE).data()) for row in range(rows.rowCount())]
        length = max(map(len, texts), default=0)
        if length > self._max_length:
            self._max_length = length
            metrics = self.fontMetrics()
            text_width = max(metrics.horizontalAdvance(text[:_MAX_VALUE_LENGTH]) for text in texts)
            sign = metrics.horizontalAdvance("\N{MINUS SIGN}")
            width = text_width + sign + metrics.height()
            header.resizeSection(VALUE, max(header.sectionSize(VALUE), width))

    def _fit(self) -> None:
        self.setFixedHeight(self.sizeHint().height())


class _BarDelegate(QStyledItemDelegate):
    """Paints the bar from zero to the value."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        bar = index.data(BAR_ROLE)
        if bar is None:
            return
        colours = self._theme.colours
        rect = QRectF(option.rect)
        height = rect.height() * 0.3
        rect = rect.adjusted(height, rect.height() / 2 - height / 2, -height, 0)
        rect.setHeight(height)
        painter.fillRect(rect, QColor(colours.raised))
        start, end = bar
        left = rect.left() + start * rect.width()
        width = max(2.0, (end - start) * rect.width())
        painter.fillRect(QRectF(left, rect.top(), width, height), QColor(colours.accent))
