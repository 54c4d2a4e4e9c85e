"""NumberTable: named numbers with small bars from zero, as high as its rows need."""

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

from gym_gui.inspector.model.observation_rows import BAR, BAR_ROLE, NAME, VALUE, ObservationRows
from gym_gui.runtime.models.theme_model import ThemeModel

_MOST_ROWS_SHOWN = 16
_LONGEST_VALUE = 16
"""Texts, which may be longer, give way to names; no number is."""


class NumberTable(QTableView):
    """Scrolls only when there are more rows than a person reads at a glance."""

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
        self._longest = 0
        rows.modelReset.connect(self._on_reset)
        rows.dataChanged.connect(lambda *_: self._make_room_for_values())
        theme.changed.connect(self.viewport().update)
        self._on_reset()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        rows = min(self.model().rowCount(), _MOST_ROWS_SHOWN)
        return QSize(line * 16, rows * self.verticalHeader().defaultSectionSize() + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """In a narrow dock names are worth more than bars."""
        line, width = self.fontMetrics().height(), self.viewport().width()
        self.horizontalHeader().resizeSection(BAR, max(line * 3, width // 4))
        self.setColumnHidden(BAR, width < line * 15)
        super().resizeEvent(event)

    def _on_reset(self) -> None:
        self._longest = 0
        self.horizontalHeader().resizeSection(VALUE, self.fontMetrics().height() * 4)
        self._make_room_for_values()
        self._fit()

    def _make_room_for_values(self) -> None:
        """A number that is cut off reads as another one. Room once taken is kept: no flicker."""
        rows, header = self.model(), self.horizontalHeader()
        texts = [str(rows.index(row, VALUE).data()) for row in range(rows.rowCount())]
        longest = max(map(len, texts), default=0)
        if longest > self._longest:
            self._longest = longest
            metrics = self.fontMetrics()
            widest = max(metrics.horizontalAdvance(text[:_LONGEST_VALUE]) for text in texts)
            sign = metrics.horizontalAdvance("\N{MINUS SIGN}")
            width = widest + sign + metrics.height()
            header.resizeSection(VALUE, max(header.sectionSize(VALUE), width))

    def _fit(self) -> None:
        self.setFixedHeight(self.sizeHint().height())


class _BarDelegate(QStyledItemDelegate):
    """Paints the bar from zero to the value, and a hair line where zero is."""

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
        room = QRectF(option.rect)
        height = room.height() * 0.3
        room = room.adjusted(height, room.height() / 2 - height / 2, -height, 0)
        room.setHeight(height)
        painter.fillRect(room, QColor(colours.raised))
        begin, end = bar
        left = room.left() + begin * room.width()
        width = max(2.0, (end - begin) * room.width())
        painter.fillRect(QRectF(left, room.top(), width, height), QColor(colours.accent))
