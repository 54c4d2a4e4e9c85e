"""What a plot draws beside curves: bands of confidence, and marks for single and missing values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

Values = NDArray[Any]


class Line(NamedTuple):
    """A curve, with gaps where a value is no number."""

    x: Values
    y: Values
    colour: QColor


class Lines(QGraphicsItem):
    """Curves of one kind. All are one item: pyqtgraph's own take as long again to be measured."""

    def __init__(self, height: int) -> None:
        super().__init__()
        self._paths: list[tuple[QPainterPath, QPen]] = []
        self._bounds = QRectF()
        self._is_fine = False
        self.setZValue(height)

    def show_lines(self, lines: Sequence[Line], is_fine: bool) -> None:
        """`is_fine`: with smooth edges, which is for few points."""
        self.prepareGeometryChange()
        self._is_fine = is_fine
        self._paths = []
        self._bounds = QRectF()
        for line in lines:
            is_whole = bool(np.isfinite(line.y).all())
            path = pg.functions.arrayToQPath(
                line.x, line.y, connect="all" if is_whole else "finite", finiteCheck=False
            )
            self._paths.append((path, pg.mkPen(line.colour, width=1)))
            self._bounds |= path.controlPointRect()
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        return self._bounds

    def paint(
        self,
        painter: QPainter,
        _option: QStyleOptionGraphicsItem,
        _widget: QWidget | None = None,
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._is_fine)
        for path, pen in self._paths:
            painter.setPen(pen)
            painter.drawPath(path)


class Band(QGraphicsItem):
    """Between the lower and the upper edge of a group."""

    def __init__(self) -> None:
        super().__init__()
        self._path = QPainterPath()
        self._colour = QColor()
        self.setZValue(-20)

    def show_range(self, x: Values, low: Values, high: Values, colour: QColor) -> None:
        self.prepareGeometryChange()
        self._colour = colour
        known = np.isfinite(low) & np.isfinite(high)
        self._path = QPainterPath()
        edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False]))))
        for start, end in edges.reshape(-1, 2):
            part = slice(start, end)
            outline_x = np.concatenate((x[part], x[part][::-1]))
            outline_y = np.concatenate((low[part], high[part][::-1]))
            self._path.addPath(pg.functions.arrayToQPath(outline_x, outline_y))
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        return self._path.boundingRect()

    def paint(
        self,
        painter: QPainter,
        _option: QStyleOptionGraphicsItem,
        _widget: QWidget | None = None,
    ) -> None:
        painter.fillPath(self._path, self._colour)


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    colour: QColor


class Marks(pg.GraphicsObject):  # type: ignore[misc, unused-ignore]
    """Dots where a value stands alone or below the crosshair; crosses at the edge of the plot
    where a value is not a number, arrows where it is infinite."""

    def __init__(self) -> None:
        super().__init__()
        self._dots: Sequence[Dot] = ()
        self._odd: Sequence[tuple[float, float]] = ()
        self._bad = QColor()
        self.setZValue(30)

    def show_dots(self, dots: Sequence[Dot]) -> None:
        self._dots = dots
        self.update()

    def show_odd(self, odd: Sequence[tuple[float, float]], colour: QColor) -> None:
        self._odd = odd
        self._bad = colour
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        return QRectF(self.viewRect())

    def viewRangeChanged(self, *_: object) -> None:  # noqa: N802 - the base's name
        self.prepareGeometryChange()

    def paint(
        self,
        painter: QPainter,
        _option: QStyleOptionGraphicsItem,
        _widget: QWidget | None = None,
    ) -> None:
        if not self._dots and not self._odd:
            return
        place = painter.transform()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        size = 3.5 * painter.device().devicePixelRatio()
        painter.setPen(Qt.PenStyle.NoPen)
        for dot in self._dots:
            painter.setBrush(dot.colour)
            painter.drawEllipse(place.map(QPointF(dot.x, dot.y)), size, size)
        seen = place.mapRect(self.viewRect())
        painter.setPen(QPen(self._bad, size / 3))
        for x, value in self._odd:
            across = place.map(QPointF(x, 0.0)).x()
            if seen.left() <= across <= seen.right():
                _draw_odd(painter, across, seen, value, size)


def _draw_odd(painter: QPainter, x: float, seen: QRectF, value: float, size: float) -> None:
    if math.isnan(value):
        y = seen.bottom() - 2 * size
        painter.drawLine(QPointF(x - size, y - size), QPointF(x + size, y + size))
        painter.drawLine(QPointF(x - size, y + size), QPointF(x + size, y - size))
        return
    tip, foot = seen.top() + size, seen.top() + 3 * size
    if value < 0:
        tip, foot = seen.bottom() - size, seen.bottom() - 3 * size
    painter.drawLine(QPointF(x - size, foot), QPointF(x, tip))
    painter.drawLine(QPointF(x + size, foot), QPointF(x, tip))
