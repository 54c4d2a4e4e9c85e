"""UsagePlot: one quantity over the time of a run, as an area; what is under the mouse in words."""

import math
from bisect import bisect_left
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gym_gui.run_page.model.run_usage_model import Track
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.fonts import scaled
from gym_gui.widgets.mixing import mixed

_EVEN = (1.0, 2.0, 2.5, 5.0, 10.0)
_LINES = 3
_ROOM_ABOVE = 1.08
_MARKS = 4


class UsagePlot(QWidget):
    """`say` writes a value, at the axis and under the mouse."""

    def __init__(
        self,
        name: str,
        say: Callable[[float], str],
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._say = say
        self._theme = theme
        self._track = Track()
        self._limit: float | None = None
        self.setFont(scaled(self.font(), 0.89))
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def draw(self, track: Track, limit: float | None) -> None:
        """`limit`: all there is of it; a line where it is in sight."""
        self._track, self._limit = track, limit
        newest = track.newest
        self.setAccessibleName(f"{self._name}, now {self._say(newest)}" if newest else self._name)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 20, line * 9)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 10, line * 5)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        room, times = self._room(), self._track.t
        if len(times) > 1:
            share = (event.position().x() - room.left()) / max(1.0, room.width())
            wanted = times[0] + min(1.0, max(0.0, share)) * (times[-1] - times[0])
            at = min(bisect_left(times, wanted), len(times) - 1)
            words = f"{self._say(self._track.values[at])} at {run_text.duration(times[at])}"
            QToolTip.showText(event.globalPosition().toPoint(), words, self)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room, top = self._room(), self._top()
        self._paint_lines(painter, room, top)
        if len(self._track.t) > 1:
            self._paint_times(painter, room)
            self._paint_area(painter, room, top)
        painter.end()

    def _room(self) -> QRectF:
        metrics = self.fontMetrics()
        left = metrics.horizontalAdvance(self._say(self._top())) + metrics.height() // 2
        whole = QRectF(self.rect())
        return whole.adjusted(left, metrics.height() * 0.6, -2, -metrics.height() * 1.3)

    def _top(self) -> float:
        peak = (self._track.peak or 0.0) * _ROOM_ABOVE
        return _even_step(peak / _LINES) * _LINES if peak > 0 else float(_LINES)

    def _paint_lines(self, painter: QPainter, room: QRectF, top: float) -> None:
        colours, metrics = self._theme.colours, self.fontMetrics()
        for number in range(_LINES + 1):
            value = top * number / _LINES
            y = room.bottom() - room.height() * number / _LINES
            painter.setPen(QPen(mixed(colours.line, colours.surface, 0.7), 1.0))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(QColor(colours.muted))
            place = QRectF(0, y - metrics.height() / 2, room.left() - 6, metrics.height())
            side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(place, side, self._say(value))
        if self._limit is not None and self._limit <= top:
            y = room.bottom() - room.height() * self._limit / top
            painter.setPen(QPen(QColor(colours.warning), 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))

    def _paint_times(self, painter: QPainter, room: QRectF) -> None:
        painter.setPen(QColor(self._theme.colours.muted))
        first, last = self._track.t[0], self._track.t[-1]
        metrics = self.fontMetrics()
        for number in range(_MARKS + 1):
            share = number / _MARKS
            text = run_text.duration(first + (last - first) * share)
            width = metrics.horizontalAdvance(text)
            left = room.left() + room.width() * share - width * share
            painter.drawText(QPointF(left, room.bottom() + metrics.height() * 1.1), text)

    def _paint_area(self, painter: QPainter, room: QRectF, top: float) -> None:
        columns = max(2, int(room.width()))
        if len(self._track.t) > columns * 2:
            self._paint_columns(painter, room, top, columns)
            return
        colours, track = self._theme.colours, self._track
        first, span = track.t[0], (track.t[-1] - track.t[0]) or 1.0
        points = [
            QPointF(
                room.left() + room.width() * (t - first) / span,
                room.bottom() - room.height() * value / top,
            )
            for t, value in zip(track.t, track.values, strict=True)
        ]
        area = [QPointF(points[0].x(), room.bottom()), *points]
        area.append(QPointF(points[-1].x(), room.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mixed(colours.accent, colours.surface, 0.16))
        painter.drawPolygon(QPolygonF(area))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.accent), 1.5))
        painter.drawPolyline(QPolygonF(points))

    def _paint_columns(self, painter: QPainter, room: QRectF, top: float, columns: int) -> None:
        """Of more samples than pixels: from the least to the greatest value of each column."""
        colours, values = self._theme.colours, self._track.values
        per_column = len(values) / columns
        areas, lines = [], []
        for column in range(columns):
            part = values[int(column * per_column) : int((column + 1) * per_column)]
            x = room.left() + column
            high = room.bottom() - room.height() * max(part) / top
            low = room.bottom() - room.height() * min(part) / top
            areas.append(QRectF(x, high, 1.0, room.bottom() - high))
            lines.append(QRectF(x, high, 1.0, max(1.5, low - high)))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mixed(colours.accent, colours.surface, 0.16))
        painter.drawRects(areas)
        painter.setBrush(QColor(colours.accent))
        painter.drawRects(lines)


def _even_step(least: float) -> float:
    """The next number that people count by."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * each for each in _EVEN if power * each >= least * 0.999)
