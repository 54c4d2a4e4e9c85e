"""Items of a plot: curves, confidence bands, and markers of single and non-finite values."""

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
    """A curve, with gaps where a value is not finite."""

    x: Values
    y: Values
    colour: QColor


class Lines(QGraphicsItem):
    """Several curves as one graphics item, which takes half the time of pyqtgraph's curve items."""

    def __init__(self, z_value: int) -> None:
        super().__init__()
        self._paths: list[tuple[QPainterPath, QPen]] = []
        self._bounds = QRectF()
        self._is_antialiased = False
        self.setZValue(z_value)

    def show_lines(self, lines: Sequence[Line], is_antialiased: bool) -> None:
        """Antialiasing is slow with many points."""
        self.prepareGeometryChange()
        self._is_antialiased = is_antialiased
        self._paths = []
        self._bounds = QRectF()
        for line in lines:
            is_finite = bool(np.isfinite(line.y).all())
            path = pg.functions.arrayToQPath(
                line.x, line.y, connect="all" if is_finite else "finite", finiteCheck=False
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
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._is_antialiased)
        for path, pen in self._paths:
            painter.setPen(pen)
            painter.drawPath(path)


class Band(QGraphicsItem):
    """The area between the lower and the upper bound of a group."""

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
            run = slice(start, end)
            outline_x = np.concatenate((x[run], x[run][::-1]))
            outline_y = np.concatenate((low[run], high[run][::-1]))
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
    """Dots for single values and values at the crosshair; at the edge of the plot, crosses for NaN
    and arrows for infinity."""

    def __init__(self) -> None:
        super().__init__()
        self._dots: Sequence[Dot] = ()
        self._non_finite: Sequence[tuple[float, float]] = ()
        self._bad = QColor()
        self.setZValue(30)

    def show_dots(self, dots: Sequence[Dot]) -> None:
        self._dots = dots
        self.update()

    def show_non_finite(self, values: Sequence[tuple[float, float]], colour: QColor) -> None:
        self._non_finite = values
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
        if not self._dots and not self._non_finite:
            return
        transform = painter.transform()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        size = 3.5 * painter.device().devicePixelRatio()
        painter.setPen(Qt.PenStyle.NoPen)
        for dot in self._dots:
            painter.setBrush(dot.colour)
            painter.drawEllipse(transform.map(QPointF(dot.x, dot.y)), size, size)
        visible = transform.mapRect(self.viewRect())
        painter.setPen(QPen(self._bad, size / 3))
        for x, value in self._non_finite:
            device_x = transform.map(QPointF(x, 0.0)).x()
            if visible.left() <= device_x <= visible.right():
                _draw_non_finite(painter, device_x, visible, value, size)


def _draw_non_finite(
    painter: QPainter, x: float, visible: QRectF, value: float, size: float
) -> None:
    if math.isnan(value):
        y = visible.bottom() - 2 * size
        painter.drawLine(QPointF(x - size, y - size), QPointF(x + size, y + size))
        painter.drawLine(QPointF(x - size, y + size), QPointF(x + size, y - size))
        return
    tip, base = visible.top() + size, visible.top() + 3 * size
    if value < 0:
        tip, base = visible.bottom() - size, visible.bottom() - 3 * size
    painter.drawLine(QPointF(x - size, base), QPointF(x, tip))
    painter.drawLine(QPointF(x + size, base), QPointF(x, tip))
