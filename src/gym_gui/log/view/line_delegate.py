"""LineDelegate: how a line of the log is painted: severity as symbol and word, finds marked."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gym_gui.log.model.log_filter import LogRecord, Severity
from gym_gui.log.model.log_model import COMPONENT, MESSAGE, RECORD_ROLE, SEVERITY, shown_text
from gym_gui.runtime.models.theme_model import Colours, ThemeModel
from gym_gui.widgets.fonts import fixed_font
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.mixing import mixed

_ICONS: dict[Severity, IconName] = {
    Severity.DEBUG: "more",
    Severity.INFO: "info",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
}
_LINE_HEIGHTS = 1.55
_IN_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)


class LineDelegate(QStyledItemDelegate):
    """`needle` is what the search marks."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.needle = ""
        self._plain = parent.font()
        self._mono = fixed_font(self._plain)
        self._plain_metrics = QFontMetrics(self._plain)
        self._mono_metrics = QFontMetrics(self._mono)
        self._line = self._plain_metrics.height()
        self._widest_letter = max(self._mono_metrics.horizontalAdvance("W"), self._line // 2)

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(option.rect.width(), round(option.fontMetrics.height() * _LINE_HEIGHTS))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        # All by itself: asking the style for each cell takes ten times as long.
        record: LogRecord = index.data(RECORD_ROLE)
        colours, column = self._theme.colours, index.column()
        self._paint_ground(painter, option)
        edge = self._line // 3
        room = option.rect.adjusted(edge, 0, -edge, 0)
        painter.setPen(QColor(_ink(record, column, colours)))
        if column == SEVERITY:
            painter.setFont(self._plain)
            self._paint_severity(painter, record, room)
        elif column == COMPONENT:
            painter.setFont(self._plain)
            self._paint_text(painter, record.component, room, self._plain_metrics)
        else:
            painter.setFont(self._mono)
            self._paint_text(painter, shown_text(record, column), room, self._mono_metrics)

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        colours, state = self._theme.colours, option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(colours.selection))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, mixed(colours.text, colours.surface, 0.035))
        painter.setPen(mixed(colours.line, colours.surface, 0.6))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())

    def _paint_severity(self, painter: QPainter, record: LogRecord, room: QRect) -> None:
        side = self._line * 0.95
        mark = QRectF(room.left(), room.center().y() - side / 2 + 0.5, side, side)
        colour = _ink(record, SEVERITY, self._theme.colours)
        draw_icon(painter, _ICONS[record.severity], colour, mark)
        words = room.adjusted(round(side * 1.35), 0, 0, 0)
        painter.drawText(words, _IN_LINE, record.severity.word)

    def _paint_text(self, painter: QPainter, text: str, room: QRect, metrics: QFontMetrics) -> None:
        if len(text) * self._widest_letter > room.width():
            is_name = metrics is self._plain_metrics
            where = Qt.TextElideMode.ElideMiddle if is_name else Qt.TextElideMode.ElideRight
            text = metrics.elidedText(text, where, room.width())
        if self.needle:
            self._mark_finds(painter, text, room, metrics)
        painter.drawText(room, _IN_LINE, text)

    def _mark_finds(
        self, painter: QPainter, shown: str, room: QRect, metrics: QFontMetrics
    ) -> None:
        colours = self._theme.colours
        mark = mixed(colours.warning, colours.surface, 0.38)
        lowered, needle = shown.lower(), self.needle.lower()
        at = lowered.find(needle)
        while at >= 0:
            left = room.left() + metrics.horizontalAdvance(shown[:at])
            width = metrics.horizontalAdvance(shown[at : at + len(needle)])
            top = room.center().y() - metrics.height() // 2
            painter.fillRect(QRect(left, top, width, metrics.height()), mark)
            at = lowered.find(needle, at + len(needle))


def _ink(record: LogRecord, column: int, colours: Colours) -> str:
    if record.severity is Severity.ERROR and column in (SEVERITY, MESSAGE):
        return colours.bad
    if record.severity is Severity.WARNING and column == SEVERITY:
        return colours.warning
    if record.severity is Severity.DEBUG:
        return colours.muted
    return colours.text if column == MESSAGE else colours.muted
