"""Readout: a floating box with the values of all runs at the crosshair."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.styling import blend, scaled_font

_MAX_ROWS = 10
_MAX_NAME_CHARS = 32


class ReadoutRow(NamedTuple):
    colour: QColor
    name: str
    value: str


class Readout(QWidget):
    """Transparent for mouse events."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._title = ""
        self._rows: Sequence[ReadoutRow] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFont(scaled_font(self.font(), 0.9))
        self.hide()

    def show_rows(
        self, title: str, rows: Sequence[ReadoutRow], position: QPoint, area: QRect
    ) -> None:
        """Show the values beside `position`, on the side that has space in `area`."""
        more = len(rows) - _MAX_ROWS
        self._title = f"{title} · {more} more" if more > 0 else title
        self._rows = rows[:_MAX_ROWS]
        metrics = self.fontMetrics()
        line, gap = metrics.height(), metrics.height() // 2
        names = max((metrics.horizontalAdvance(row.name) for row in self._rows), default=0)
        names = min(names, metrics.averageCharWidth() * _MAX_NAME_CHARS)
        values = max((metrics.horizontalAdvance(row.value) for row in self._rows), default=0)
        inner = max(names + values + line + 2 * gap, metrics.horizontalAdvance(self._title))
        self.resize(inner + 2 * gap, round(line * 1.25 * (len(self._rows) + 1)) + gap)
        left = position.x() + line
        if left + self.width() > area.right():
            left = position.x() - line - self.width()
        top = min(max(area.top() + gap // 2, position.y() - self.height() // 2), area.bottom())
        top = max(area.top(), min(top, area.bottom() - self.height()))
        self.move(max(area.left(), left), top)
        self.show()
        self.raise_()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        metrics = self.fontMetrics()
        line, gap = metrics.height(), metrics.height() // 2
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        background = blend(colours.raised, colours.surface, 0.6 if colours.is_dark else 0.0)
        background.setAlphaF(0.94)
        painter.setPen(QPen(QColor(colours.line), 1.0))
        painter.setBrush(background)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        rect = QRect(gap, gap // 2, self.width() - 2 * gap, round(line * 1.25))
        painter.setPen(QColor(colours.muted))
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, self._title)
        for row in self._rows:
            rect.translate(0, rect.height())
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(row.colour)
            side = line * 0.55
            painter.drawRoundedRect(
                QRectF(rect.left(), rect.center().y() - side / 2 + 1, side, side), 2, 2
            )
            painter.setPen(QColor(colours.text))
            painter.drawText(
                rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, row.value
            )
            width = rect.width() - metrics.horizontalAdvance(row.value) - line - gap
            name = metrics.elidedText(row.name, Qt.TextElideMode.ElideMiddle, width)
            painter.setPen(QColor(colours.muted))
            painter.drawText(rect.adjusted(line, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, name)
        painter.end()
