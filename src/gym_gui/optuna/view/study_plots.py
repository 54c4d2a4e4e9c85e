"""The plots of a study: values over trials, and values over one parameter.

Imported off the UI thread, for pyqtgraph. A click on a point chooses its trial.
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
from gym_gui.runtime.models.number_text import significant
from gym_gui.runtime.models.theme_model import Colours, ThemeModel
from gym_gui.widgets.fonts import scaled
from gym_gui.widgets.mixing import mixed
from gym_gui.widgets.plots.plot_axes import PlaceAxis, ValueAxis, short_number, style_axes
from gym_gui.widgets.plots.plot_items import Line, Lines
from gym_gui.widgets.plots.readout import Readout, ReadoutRow

_PAD = 0.06
_NEAR_PX = 18.0
_FEW_POWERS = 2.5
_EVEN = (1.0, 2.0, 5.0)
_DOT, _STAR = 7, 14
_SMOOTH_EDGES_UP_TO = 3_000
_MANY_SCALE = 0.5
"""Of the dots, where there are more of them."""


class SettingAxis(PlaceAxis):
    """The bottom one: trials and numbers, exponents of ten, or the names of choices."""

    def __init__(self) -> None:
        super().__init__()
        self.setting = Setting()

    def tickValues(  # noqa: N802 - the base's name
        self, low: float, high: float, size: float
    ) -> list[tuple[float | None, list[float]]]:
        low, high = min(low, high), max(low, high)
        if self.setting.choices:
            return [
                (None, [float(at) for at in range(len(self.setting.choices)) if low <= at <= high])
            ]
        if not self.setting.is_log:
            found: list[tuple[float | None, list[float]]] = super().tickValues(low, high, size)
            return found
        between = [math.log10(each) for each in _EVEN] if high - low < _FEW_POWERS else [0.0]
        powers = range(math.floor(low), math.ceil(high) + 1)
        marks = [power + part for power in powers for part in between]
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
    """Drag to move along, wheel to zoom, double-click for all of it."""

    picked = Signal(int)
    """The number of a trial."""

    def __init__(self, name: str, theme: ThemeModel, parent: QWidget | None = None) -> None:
        self._places, self._values = SettingAxis(), ValueAxis()
        super().__init__(
            parent=parent,
            background=None,
            axisItems={"bottom": self._places, "left": self._values},
            enableMenu=False,
        )
        self._theme = theme
        self._points = NO_POINTS
        self._stairs: tuple[Sequence[float], Sequence[float]] = ((), ())
        self._chosen: frozenset[int] = frozenset()
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
        self._places.setHeight(round(self.fontMetrics().height() * 1.5))
        box.addItem(self._line, ignoreBounds=True)
        item.addItem(self._dots, ignoreBounds=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMinimumSize(1, 1)
        self.setMouseTracking(True)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the table beside it says the same
        box.sigRangeChangedManually.connect(self._on_moved)
        self.scene().sigMouseClicked.connect(self._on_click)
        theme.changed.connect(self._draw)

    def show_points(
        self,
        points: Points,
        stairs: tuple[Sequence[float], Sequence[float]] = ((), ()),
        setting: Setting = Setting(),  # noqa: B008 - it cannot be changed
    ) -> None:
        """`stairs`: where the best value changed, and to what. Both in order."""
        if setting != self._places.setting:
            self._places.setting = setting
            self._is_moved = False
        self._points, self._stairs = points, stairs
        self._draw()

    def mark(self, numbers: frozenset[int]) -> None:
        """The trials that are chosen elsewhere."""
        if numbers != self._chosen:
            self._chosen = numbers
            self._dots.mark(self._points, numbers)

    def show_all(self) -> None:
        self._is_moved = False
        self._place()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mouseMoveEvent(event)
        at = self._nearest(event.position().toPoint())
        if at is None or event.buttons():
            self._readout.hide()
            return
        drawn = self._points.drawn
        value = significant(drawn.values[at])
        row = ReadoutRow(QColor(self._theme.colours.accent), self._points.words(at), value)
        head = f"trial {drawn.trials[at].number}{', pruned' if drawn.is_pruned[at] else ''}"
        self._readout.show_rows(head, [row], event.position().toPoint(), self.rect())

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().leaveEvent(event)
        self._readout.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        if hasattr(self, "_dots") and not self._is_moved:  # it is resized while it is made
            self._place()

    def _on_moved(self, *_: object) -> None:
        self._is_moved = True

    def _on_click(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if event.double():
            self.show_all()
            return
        at = self._nearest(self.mapFromScene(event.scenePos()))
        if at is not None:
            self.picked.emit(self._points.drawn.trials[at].number)

    def _nearest(self, at: QPoint) -> int | None:
        """Which point lies there."""
        if not len(self._points):
            return None
        box = self.getPlotItem().getViewBox()
        place = box.mapSceneToView(self.mapToScene(at))
        across, up = box.viewPixelSize()
        xs, ys = self._dots.places
        far = np.hypot((xs - place.x()) / (across or 1), (ys - place.y()) / (up or 1))
        nearest = int(far.argmin())
        return nearest if far[nearest] <= _NEAR_PX else None

    def _draw(self) -> None:
        style_axes((self._places, self._values), self._theme.colours, scaled(self.font(), 0.88))
        self._dots.show_points(self._points, self._theme.colours)
        self._dots.mark(self._points, self._chosen)
        x, y = self._staircase()
        green = mixed(self._theme.colours.good, self._theme.colours.surface, 0.9)
        self._line.show_lines([Line(x, y, green)], True)
        if not self._is_moved:
            self._place()

    def _staircase(self) -> Any:
        """Level until the next better value, and on to the newest trial."""
        numbers, values = self._stairs
        if not len(numbers):
            return np.array([]), np.array([])
        last = max(self._points.x, default=numbers[-1])
        x = np.repeat(np.array([*numbers, max(last, numbers[-1])], float), 2)[1:]
        y = np.repeat(np.array(values, float), 2)
        return x[: len(y)], y

    def _place(self) -> None:
        """All points in sight."""
        box = self.getPlotItem().getViewBox()
        if not len(self._points):
            box.setRange(xRange=(0, 1), yRange=(0, 1), padding=0.0)
            return
        xs, ys = self._dots.places
        choices = len(self._places.setting.choices)
        x_range = _padded(xs.min(), xs.max(), _PAD / 2) if not choices else (-0.5, choices - 0.5)
        box.setRange(xRange=x_range, yRange=_padded(ys.min(), ys.max(), _PAD * 1.6), padding=0.0)


class _Dots(pg.GraphicsObject):  # type: ignore[misc, unused-ignore]
    """All trials as one item: pyqtgraph's own takes seconds for ten thousand of them."""

    def __init__(self) -> None:
        super().__init__()
        self.places: tuple[Any, Any] = (np.array([]), np.array([]))
        self._layers: list[tuple[QPolygonF, QColor, float]] = []
        self._stars = QPolygonF()
        self._star_colour = self._mark_colour = QColor()
        self._marks = QPolygonF()
        self.setZValue(10)

    def show_points(self, points: Points, colours: Colours) -> None:
        drawn = points.drawn
        self.places = xs, ys = np.array(points.x, float), np.array(drawn.values, float)
        is_pruned, is_best = np.array(drawn.is_pruned, bool), np.array(drawn.is_best, bool)
        pruned = _some(xs, ys, is_pruned)
        self._layers = [
            (pruned, QColor(colours.muted), _DOT),
            (pruned, QColor(colours.surface), _DOT * 0.62),
            (
                _some(xs, ys, ~is_pruned & ~is_best),
                mixed(colours.accent, colours.surface, 0.8),
                _DOT,
            ),
        ]
        self._stars, self._star_colour = _some(xs, ys, is_best), QColor(colours.good)
        self._mark_colour = QColor(colours.text)
        self.update()

    def mark(self, points: Points, chosen: frozenset[int]) -> None:
        """Those trials get a ring."""
        trials = points.drawn.trials
        which = np.fromiter((trial.number in chosen for trial in trials), bool, len(trials))
        self._marks = _some(*self.places, which)
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
        place = painter.transform()
        scale = painter.device().devicePixelRatio()
        painter.resetTransform()
        is_fine = len(self.places[0]) <= _SMOOTH_EDGES_UP_TO
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_fine)
        scale *= 1.0 if is_fine else _MANY_SCALE
        rings = (self._marks, self._mark_colour, _DOT * 1.6)
        for polygon, colour, size in (rings, *self._layers):
            if not polygon.isEmpty():
                pen = QPen(colour, size * scale)
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
                painter.setPen(pen)
                painter.drawPoints(place.map(polygon))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._star_colour)
        scale = painter.device().devicePixelRatio()
        stars = place.map(self._stars)
        for number in range(stars.size()):
            painter.drawPolygon(_star(stars.at(number), _STAR * scale / 2))


def _padded(low: float, high: float, share: float) -> tuple[float, float]:
    pad = (high - low) * share or max(abs(high) * 0.1, 0.5)
    return low - pad, high + pad


def _some(xs: Any, ys: Any, which: Any) -> QPolygonF:
    if not which.any():  # of nothing pyqtgraph makes nothing
        return QPolygonF()
    polygon: QPolygonF = pg.functions.arrayToQPolygonF(xs[which], ys[which])
    return polygon


def _star(at: QPointF, radius: float) -> QPolygonF:
    """With five points, upright."""
    corners = []
    for number in range(10):
        angle = math.pi * (number / 5 - 0.5)
        far = radius if number % 2 == 0 else radius * 0.42
        corners.append(QPointF(at.x() + far * math.cos(angle), at.y() + far * math.sin(angle)))
    return QPolygonF(corners)
