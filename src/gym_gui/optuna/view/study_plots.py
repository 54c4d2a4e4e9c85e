"""Study plots: values by trial or by parameter.

Imported on a thread, because pyqtgraph is slow to import. A click on a point selects its trial.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QFrame, QStyleOptionGraphicsItem, QWidget

from gym_gui.optuna.model.study_points import NO_POINTS, Points, Setting
from gym_gui.runtime.models.formatting import format_significant
from gym_gui.runtime.models.theme_model import Colours, ThemeModel
from gym_gui.widgets.plots.plot_axes import XAxis, YAxis, short_number, style_axes
from gym_gui.widgets.plots.plot_items import Line, Lines
from gym_gui.widgets.plots.readout import Readout, ReadoutRow
from gym_gui.widgets.styling import blend, scaled_font

_PAD = 0.06
_MAX_DISTANCE_PX = 18.0
_MAX_POWERS_WITH_STEPS = 2.5
_LOG_STEPS = (1.0, 2.0, 5.0)
_DOT, _STAR = 7, 14
_MAX_ANTIALIASED_POINTS = 3_000
_LARGE_PLOT_SCALE = 0.5
"""Scale of the dots above that number of points."""


class SettingAxis(XAxis):
    """The x axis: trial numbers, values, powers of ten or categories."""

    def __init__(self) -> None:
        super().__init__()
        self.setting = Setting()

    def tickValues(  # noqa: N802 - the base's name
        self, low: float, high: float, size: float
    ) -> list[tuple[float | None, list[float]]]:
        low, high = min(low, high), max(low, high)
        if self.setting.choices:
            return [
                (
                    None,
                    [
                        float(index)
                        for index in range(len(self.setting.choices))
                        if low <= index <= high
                    ],
                )
            ]
        if not self.setting.is_log:
            ticks: list[tuple[float | None, list[float]]] = super().tickValues(low, high, size)
            return ticks
        offsets = (
            [math.log10(step) for step in _LOG_STEPS]
            if high - low < _MAX_POWERS_WITH_STEPS
            else [0.0]
        )
        powers = range(math.floor(low), math.ceil(high) + 1)
        marks = [power + offset for power in powers for offset in offsets]
        return [(None, [mark for mark in marks if low <= mark <= high])]

    def tickStrings(  # noqa: N802 - the base's name
        self, values: Sequence[float], scale: float, spacing: float
    ) -> list[str]:
        if self.setting.choices:
            return [self.setting.choices[round(value)] for value in values]
        if self.setting.is_log:
            return [short_number(10**value, 10**value) for value in values]
        return super().tickStrings(values, scale, spacing)


class StudyPlot(pg.PlotWidget):  # type: ignore[misc, unused-ignore]
    """Drag: pan. Wheel: zoom. Double click: show all."""

    trial_clicked = Signal(int)
    """The number of a trial."""

    def __init__(self, name: str, theme: ThemeModel, parent: QWidget | None = None) -> None:
        self._x_axis, self._values = SettingAxis(), YAxis()
        super().__init__(
            parent=parent,
            background=None,
            axisItems={"bottom": self._x_axis, "left": self._values},
            enableMenu=False,
        )
        self._theme = theme
        self._points = NO_POINTS
        self._stairs: tuple[Sequence[float], Sequence[float]] = ((), ())
        self._selected: frozenset[int] = frozenset()
        self._is_moved = False
        self._dots = _Dots()
        self._line = Lines(5)
        self._readout = Readout(theme, self)
        item, box = self.getPlotItem(), self.getPlotItem().getViewBox()
        item.hideButtons()
        item.setContentsMargins(0, 4, 10, 0)
        box.disableAutoRange()
        box.setDefaultPadding(0.0)
        self._values.setZValue(-10)
        self._values.setWidth(self.fontMetrics().averageCharWidth() * 8)
        self._x_axis.setHeight(round(self.fontMetrics().height() * 1.5))
        box.addItem(self._line, ignoreBounds=True)
        item.addItem(self._dots, ignoreBounds=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMinimumSize(1, 1)
        self.setMouseTracking(True)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the table has the same data
        box.sigRangeChangedManually.connect(self._on_moved)
        self.scene().sigMouseClicked.connect(self._on_click)
        theme.changed.connect(self._draw)

    def show_points(
        self,
        points: Points,
        stairs: tuple[Sequence[float], Sequence[float]] = ((), ()),
        setting: Setting = Setting(),  # noqa: B008 - immutable
    ) -> None:
        """`stairs`: trial numbers and values of improvements, in order."""
        if setting != self._x_axis.setting:
            self._x_axis.setting = setting
            self._is_moved = False
        self._points, self._stairs = points, stairs
        self._draw()

    def mark(self, numbers: frozenset[int]) -> None:
        """Highlight the selected trials."""
        if numbers != self._selected:
            self._selected = numbers
            self._dots.mark(self._points, numbers)

    def show_all(self) -> None:
        self._is_moved = False
        self._fit_view()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mouseMoveEvent(event)
        index = self._nearest(event.position().toPoint())
        if index is None or event.buttons():
            self._readout.hide()
            return
        plotted = self._points.plotted
        value = format_significant(plotted.values[index])
        row = ReadoutRow(QColor(self._theme.colours.accent), self._points.text(index), value)
        title = (
            f"trial {plotted.trials[index].number}{', pruned' if plotted.is_pruned[index] else ''}"
        )
        self._readout.show_rows(title, [row], event.position().toPoint(), self.rect())

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().leaveEvent(event)
        self._readout.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        if hasattr(self, "_dots") and not self._is_moved:  # resized by the base constructor
            self._fit_view()

    def _on_moved(self, *_: object) -> None:
        self._is_moved = True

    def _on_click(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if event.double():
            self.show_all()
            return
        index = self._nearest(self.mapFromScene(event.scenePos()))
        if index is not None:
            self.trial_clicked.emit(self._points.plotted.trials[index].number)

    def _nearest(self, position: QPoint) -> int | None:
        """Index of the nearest point, or None."""
        if not len(self._points):
            return None
        box = self.getPlotItem().getViewBox()
        target = box.mapSceneToView(self.mapToScene(position))
        pixel_width, pixel_height = box.viewPixelSize()
        xs, ys = self._dots.positions
        distances = np.hypot(
            (xs - target.x()) / (pixel_width or 1), (ys - target.y()) / (pixel_height or 1)
        )
        nearest = int(distances.argmin())
        return nearest if distances[nearest] <= _MAX_DISTANCE_PX else None

    def _draw(self) -> None:
        style_axes(
            (self._x_axis, self._values), self._theme.colours, scaled_font(self.font(), 0.88)
        )
        self._dots.show_points(self._points, self._theme.colours)
        self._dots.mark(self._points, self._selected)
        x, y = self._staircase()
        green = blend(self._theme.colours.good, self._theme.colours.surface, 0.9)
        self._line.show_lines([Line(x, y, green)], True)
        if not self._is_moved:
            self._fit_view()

    def _staircase(self) -> Any:
        """x and y of the best-so-far line."""
        numbers, values = self._stairs
        if not len(numbers):
            return np.array([]), np.array([])
        last = max(self._points.x, default=numbers[-1])
        x = np.repeat(np.array([*numbers, max(last, numbers[-1])], float), 2)[1:]
        y = np.repeat(np.array(values, float), 2)
        return x[: len(y)], y

    def _fit_view(self) -> None:
        """Show all points."""
        box = self.getPlotItem().getViewBox()
        if not len(self._points):
            box.setRange(xRange=(0, 1), yRange=(0, 1), padding=0.0)
            return
        xs, ys = self._dots.positions
        choices = len(self._x_axis.setting.choices)
        x_range = _padded(xs.min(), xs.max(), _PAD / 2) if not choices else (-0.5, choices - 0.5)
        box.setRange(xRange=x_range, yRange=_padded(ys.min(), ys.max(), _PAD * 1.6), padding=0.0)


class _Dots(pg.GraphicsObject):  # type: ignore[misc, unused-ignore]
    """All trials as one item; the pyqtgraph scatter plot is too slow for 10,000 points."""

    def __init__(self) -> None:
        super().__init__()
        self.positions: tuple[Any, Any] = (np.array([]), np.array([]))
        self._layers: list[tuple[QPolygonF, QColor, float]] = []
        self._stars = QPolygonF()
        self._star_colour = self._mark_colour = QColor()
        self._marks = QPolygonF()
        self.setZValue(10)

    def show_points(self, points: Points, colours: Colours) -> None:
        plotted = points.plotted
        self.positions = xs, ys = np.array(points.x, float), np.array(plotted.values, float)
        is_pruned, is_best = np.array(plotted.is_pruned, bool), np.array(plotted.is_best, bool)
        pruned = _polygon(xs, ys, is_pruned)
        self._layers = [
            (pruned, QColor(colours.muted), _DOT),
            (pruned, QColor(colours.surface), _DOT * 0.62),
            (
                _polygon(xs, ys, ~is_pruned & ~is_best),
                blend(colours.accent, colours.surface, 0.8),
                _DOT,
            ),
        ]
        self._stars, self._star_colour = _polygon(xs, ys, is_best), QColor(colours.good)
        self._mark_colour = QColor(colours.text)
        self.update()

    def mark(self, points: Points, selected: frozenset[int]) -> None:
        """Draw a ring around the selected trials."""
        trials = points.plotted.trials
        which = np.fromiter((trial.number in selected for trial in trials), bool, len(trials))
        self._marks = _polygon(*self.positions, which)
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
        position = painter.transform()
        scale = painter.device().devicePixelRatio()
        painter.resetTransform()
        is_antialiased = len(self.positions[0]) <= _MAX_ANTIALIASED_POINTS
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_antialiased)
        scale *= 1.0 if is_antialiased else _LARGE_PLOT_SCALE
        rings = (self._marks, self._mark_colour, _DOT * 1.6)
        for polygon, colour, size in (rings, *self._layers):
            if not polygon.isEmpty():
                pen = QPen(colour, size * scale)
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
                painter.setPen(pen)
                painter.drawPoints(position.map(polygon))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._star_colour)
        scale = painter.device().devicePixelRatio()
        stars = position.map(self._stars)
        for number in range(stars.size()):
            painter.drawPolygon(_star(stars.at(number), _STAR * scale / 2))


def _padded(low: float, high: float, share: float) -> tuple[float, float]:
    pad = (high - low) * share or max(abs(high) * 0.1, 0.5)
    return low - pad, high + pad


def _polygon(xs: Any, ys: Any, which: Any) -> QPolygonF:
    if not which.any():  # pyqtgraph does not accept empty arrays
        return QPolygonF()
    polygon: QPolygonF = pg.functions.arrayToQPolygonF(xs[which], ys[which])
    return polygon


def _star(centre: QPointF, radius: float) -> QPolygonF:
    """A five-pointed star."""
    corners = []
    for number in range(10):
        angle = math.pi * (number / 5 - 0.5)
        distance = radius if number % 2 == 0 else radius * 0.42
        corners.append(
            QPointF(
                centre.x() + distance * math.cos(angle), centre.y() + distance * math.sin(angle)
            )
        )
    return QPolygonF(corners)
