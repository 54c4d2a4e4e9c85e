"""Readout: the values of all runs below the crosshair, in a small box that floats in the plot."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.fonts import scaled
from gym_gui.widgets.mixing import mixed

_MAX_ROWS = 10
_WIDEST_NAME = 32


class ReadoutRow(NamedTuple):
    colour: QColor
    name: str
    value: str


class Readout(QWidget):
    """The mouse goes through it."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._head = ""
        self._rows: Sequence[ReadoutRow] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFont(scaled(self.font(), 0.9))
        self.hide()

    def show_rows(self, head: str, rows: Sequence[ReadoutRow], at: QPoint, room: QRect) -> None:
        """Beside the crosshair, on the side where there is room."""
        more = len(rows) - _MAX_ROWS
        self._head = f"{head} · {more} more" if more > 0 else head
        self._rows = rows[:_MAX_ROWS]
        metrics = self.fontMetrics()
        line, gap = metrics.height(), metrics.height() // 2
        names = max((metrics.horizontalAdvance(row.name) for row in self._rows), default=0)
        names = min(names, metrics.averageCharWidth() * _WIDEST_NAME)
        values = max((metrics.horizontalAdvance(row.value) for row in self._rows), default=0)
        inner = max(names + values + line + 2 * gap, metrics.horizontalAdvance(self._head))
        self.resize(inner + 2 * gap, round(line * 1.25 * (len(self._rows) + 1)) + gap)
        left = at.x() + line
        if left + self.width() > room.right():
            left = at.x() - line - self.width()
        top = min(max(room.top() + gap // 2, at.y() - self.height() // 2), room.bottom())
        top = max(room.top(), min(top, room.bottom() - self.height()))
        self.move(max(room.left(), left), top)
        self.show()
        self.raise_()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        metrics = self.fontMetrics()
        line, gap = metrics.height(), metrics.height() // 2
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = mixed(colours.raised, colours.surface, 0.6 if colours.is_dark else 0.0)
        ground.setAlphaF(0.94)
        painter.setPen(QPen(QColor(colours.line), 1.0))
        painter.setBrush(ground)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        row = QRect(gap, gap // 2, self.width() - 2 * gap, round(line * 1.25))
        painter.setPen(QColor(colours.muted))
        painter.drawText(row, Qt.AlignmentFlag.AlignVCenter, self._head)
        for each in self._rows:
            row.translate(0, row.height())
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(each.colour)
            side = line * 0.55
            painter.drawRoundedRect(
                QRectF(row.left(), row.center().y() - side / 2 + 1, side, side), 2, 2
            )
            painter.setPen(QColor(colours.text))
            painter.drawText(
                row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, each.value
            )
            room = row.width() - metrics.horizontalAdvance(each.value) - line - gap
            name = metrics.elidedText(each.name, Qt.TextElideMode.ElideMiddle, room)
            painter.setPen(QColor(colours.muted))
            painter.drawText(row.adjusted(line, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, name)
        painter.end()
