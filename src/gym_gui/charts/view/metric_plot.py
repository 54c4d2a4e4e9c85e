"""MetricPlot: one metric drawn, panned and zoomed. Imported off the UI thread, for pyqtgraph.

Drag to move along, Ctrl and the wheel to zoom, double-click for the whole curve, click to open the
episode there. The wheel alone scrolls the page, because plots fill it.
"""

import math
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from gym_gui.charts.model.chart_metrics import MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.model.plot_data import Picture, RunTrace, nearest_point, value_at
from gym_gui.charts.view.run_colours import band_colour, raw_colour, run_colour
from gym_gui.runtime.models.number_text import significant
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.fonts import scaled
from gym_gui.widgets.plots.plot_axes import PlaceAxis, ValueAxis, place_words, style_axes
from gym_gui.widgets.plots.plot_items import Band, Dot, Line, Lines, Marks
from gym_gui.widgets.plots.readout import Readout, ReadoutRow

_SMOOTH_EDGES_UP_TO = 6_000
"""Points in a plot: beyond it antialiasing costs more than it shows."""
_PAD = 0.06
_FARTHEST = 1e300
"""A view reaches no farther: its height, and what stands around it, must be numbers too."""
_ZOOM = 1.0015
_STEP = 0.2
_RESERVE = 0.35
_FINER, _COARSER = 0.6, 1.7
"""How far the view may move, and zoom, within what was fetched before it is fetched anew."""
_PIXEL_STEP = 160
_NEAR_PX = 24.0


class MetricPlot(pg.PlotWidget):  # type: ignore[misc, unused-ignore]
    """The key, and the name of the run, are the card's business."""

    crossed = Signal(object)
    """Where the mouse is on the x axis; None: elsewhere."""
    picked = Signal(str, object, float, float)
    """A click near a run's curve: its id, the metric, and the nearest point."""
    zoom_changed = Signal(bool)

    def __init__(
        self, key: MetricKey, model: ChartsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        self._places, self._values = PlaceAxis(), ValueAxis()
        super().__init__(
            parent=parent,
            background=None,
            axisItems={"bottom": self._places, "left": self._values},
            enableMenu=False,
        )
        self.key = key
        self._model = model
        self._theme = theme
        self._picture: Picture | None = None
        self._whole: tuple[float, float] | None = None
        self._stretch: tuple[float, float] | None = None
        """In sight, where it is not the whole."""
        self._asked: tuple[float, float] | None = None
        self._raw, self._main = Lines(0), Lines(10)
        self._bands: list[Band] = []
        self._marks, self._cross_marks = Marks(), Marks()
        self._cross = pg.InfiniteLine(angle=90)
        self._cross.setZValue(25)
        self._cross.hide()
        self._readout = Readout(theme, self)
        self._mouse: tuple[float, QPointF] | None = None
        """Where it is: on the x axis, and in the widget."""
        self._is_placing = False
        self._set_up()
        self.restyle()

    def _set_up(self) -> None:
        item, box = self.getPlotItem(), self.getPlotItem().getViewBox()
        item.hideButtons()
        item.setContentsMargins(0, 2, 8, 0)
        box.setMouseEnabled(x=True, y=False)
        box.disableAutoRange()
        box.setDefaultPadding(0.0)
        # Its lines go behind the curves.
        self._values.setZValue(-10)
        for lines in (self._raw, self._main):
            box.addItem(lines, ignoreBounds=True)
        for each in (self._marks, self._cross_marks, self._cross):
            item.addItem(each, ignoreBounds=True)
        self._values.setWidth(self.fontMetrics().averageCharWidth() * 8)
        self._places.setHeight(round(self.fontMetrics().height() * 1.5))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setMinimumSize(1, 1)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"Plot of {self.key.name}")
        box.sigXRangeChanged.connect(self._on_range)
        self.scene().sigMouseClicked.connect(self._on_click)

    # What it shows.

    @property
    def stretch(self) -> tuple[float, float] | None:
        return self._stretch

    def show_metric(self, key: MetricKey) -> None:
        """Another one from now on; what it showed is forgotten."""
        self.key = key
        self.setAccessibleName(f"Plot of {key.name}")
        self.forget_place()
        self._picture = None
        self._draw_curves(Picture())

    def draw(self, picture: Picture) -> None:
        self._picture = picture
        self._places.is_time = self._model.axis == "time"
        self._values.setLogMode(False, picture.is_log)
        if self._asked is None and picture.x_range is not None:
            self._whole = picture.x_range
        self._draw_curves(picture)
        if self._stretch is None:
            self._place(self._whole)
        self._fit_values()
        if self._mouse is not None:
            self.cross(self._mouse[0])
            self._read_out(*self._mouse)

    def restyle(self) -> None:
        """In the colours of the theme."""
        colours = self._theme.colours
        style_axes((self._places, self._values), colours, scaled(self.font(), 0.88))
        pen = pg.mkPen(colours.muted, width=1, style=Qt.PenStyle.DashLine)
        self._cross.setPen(pen)
        if self._picture is not None:
            self._draw_curves(self._picture)

    def show_whole(self) -> None:
        """The stretch that is in sight is given up."""
        self._stretch = None
        self._place(self._whole)
        self._fit_values()
        self.ask()
        self.zoom_changed.emit(False)

    def forget_place(self) -> None:
        """The x axis means something else now."""
        self._stretch = self._asked = self._whole = self._mouse = None
        self.cross(None)
        self.zoom_changed.emit(False)

    def cross(self, x: float | None) -> None:
        """A line where the mouse is, here or in another plot."""
        is_shown = x is not None and self._picture is not None and not self._picture.is_empty
        self._cross.setVisible(is_shown)
        if x is None or self._picture is None:
            self._cross_marks.show_dots(())
            self._readout.hide()
            return
        self._cross.setPos(x)
        self._cross_marks.show_dots([Dot(x, y, colour) for _, y, colour in self._values_at(x)])

    def ask(self) -> None:
        """Wish for what is in sight, with the room there is for it."""
        room = self.getPlotItem().getViewBox().width() or self.width()
        pixels = max(1, math.ceil(room / _PIXEL_STEP)) * _PIXEL_STEP
        share = 1.0
        if self._stretch is not None and self._whole is not None:
            width = max(self._whole[1] - self._whole[0], 1e-12)
            share = 2 * (self._stretch[1] - self._stretch[0]) / width
        self._asked = self._stretch
        self._model.want(self.key, self._stretch, share, pixels)

    # What a person does.

    def zoom(self, factor: float, around: float | None = None) -> None:
        """More than 1 shows less."""
        first, last = self._seen()
        middle = (first + last) / 2 if around is None else around
        self.look_at(middle - (middle - first) / factor, middle + (last - middle) / factor)

    def look_at(self, first: float, last: float) -> None:
        """This stretch of the x axis; the whole of it, where it is no less than that."""
        if self._whole is None or last - first <= 0:
            return
        if first <= self._whole[0] and last >= self._whole[1]:
            self.show_whole()
        else:
            self.getPlotItem().getViewBox().setXRange(first, last, padding=0.0)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        box = self.getPlotItem().getViewBox()
        at = box.mapSceneToView(self.mapToScene(event.position().toPoint())).x()
        self.zoom(_ZOOM ** event.angleDelta().y(), at)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        first, last = self._seen()
        by = (last - first) * _STEP
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.zoom(1.25)
            case Qt.Key.Key_Minus:
                self.zoom(0.8)
            case Qt.Key.Key_Left if self._stretch:
                self.look_at(first - by, last - by)
            case Qt.Key.Key_Right if self._stretch:
                self.look_at(first + by, last + by)
            case Qt.Key.Key_Home | Qt.Key.Key_0:
                self.show_whole()
            case _:
                event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mouseMoveEvent(event)
        area = self._area()
        if not area.contains(event.position().toPoint()):
            self._leave()
            return
        box = self.getPlotItem().getViewBox()
        x = box.mapSceneToView(self.mapToScene(event.position().toPoint())).x()
        self._mouse = (x, event.position())
        self.crossed.emit(x)
        self._read_out(*self._mouse)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().leaveEvent(event)
        self._leave()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        # The base is resized while it is being made.
        if getattr(self, "_picture", None) is not None:
            self.ask()

    def _leave(self) -> None:
        self._mouse = None
        self.crossed.emit(None)

    def _on_click(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if event.double():
            self.show_whole()
            return
        box = self.getPlotItem().getViewBox()
        if not box.sceneBoundingRect().contains(event.scenePos()):
            return
        at = box.mapSceneToView(event.scenePos())
        run = self._nearest(at)
        point = nearest_point(run.x, run.y, at.x()) if run is not None else None
        if run is not None and point is not None:
            is_log = self._picture is not None and self._picture.is_log
            self.picked.emit(run.run_id, self.key, point[0], 10 ** point[1] if is_log else point[1])

    def _nearest(self, at: QPointF) -> RunTrace | None:
        """The run whose curve passes near a place."""
        if self._picture is None:
            return None
        height = self.getPlotItem().getViewBox().viewPixelSize()[1]
        found = [
            (abs(y - at.y()), run)
            for run in self._picture.runs
            for y in (value_at(run.x, run.y, at.x()), run.value_at(at.x()))
            if y is not None
        ]
        distance, nearest = min(found, key=lambda each: each[0], default=(math.inf, None))
        return nearest if distance <= _NEAR_PX * height else None

    # How it is done.

    def _seen(self) -> tuple[float, float]:
        first, last = self.getPlotItem().getViewBox().viewRange()[0]
        return float(first), float(last)

    def _area(self) -> QRect:
        box = self.getPlotItem().getViewBox()
        area: QRect = self.mapFromScene(box.sceneBoundingRect()).boundingRect()
        return area

    def _place(self, stretch: tuple[float, float] | None) -> None:
        if stretch is None:
            return
        first, last = stretch
        if last <= first:
            first, last = first - 0.5, last + 0.5
        self._is_placing = True
        self.getPlotItem().getViewBox().setXRange(first, last, padding=0.0)
        self._is_placing = False

    def _on_range(self, _box: object, seen: tuple[float, float]) -> None:
        if self._is_placing:
            return
        was_whole = self._stretch is None
        self._stretch = (float(seen[0]), float(seen[1]))
        self._fit_values()
        if was_whole:
            self.zoom_changed.emit(True)
        if self._needs_more():
            self.ask()

    def _needs_more(self) -> bool:
        """What is in sight goes beyond what was fetched, or is much finer or coarser."""
        asked, seen = self._asked or self._whole, self._stretch
        if asked is None or seen is None:
            return True
        width, now = asked[1] - asked[0], seen[1] - seen[0]
        if now < width * _FINER or now > width * _COARSER:
            return True
        if self._asked is None:
            return False  # all of it is there
        return seen[0] < asked[0] - width * _RESERVE or seen[1] > asked[1] + width * _RESERVE

    def _fit_values(self) -> None:
        if self._picture is None:
            return
        found = self._picture.y_range(*self._seen())
        if found is None:
            return
        low, high = (max(-_FARTHEST, min(_FARTHEST, each)) for each in found)
        pad = (high - low) * _PAD or max(abs(high) * 0.1, 0.5)
        self.getPlotItem().getViewBox().setYRange(low - pad, high + pad, padding=0.0)

    def _draw_curves(self, picture: Picture) -> None:
        colours = self._theme.colours
        points = sum(len(run.x) + len(run.smooth_x) for run in picture.runs)
        is_fine = points <= _SMOOTH_EDGES_UP_TO
        means = {group.group: group for group in picture.groups if group.runs > 1}
        raw: list[Line] = []
        main: list[Line] = []
        for run in picture.runs:
            is_behind = len(run.smooth_x) > 0 or run.group in means
            colour = (raw_colour if is_behind else run_colour)(run.group, colours)
            (raw if is_behind else main).append(Line(run.x, run.y, colour))
            if len(run.smooth_x) and run.group not in means:
                main.append(Line(run.smooth_x, run.smooth_y, run_colour(run.group, colours)))
        main += [
            Line(each.x, each.mean, run_colour(each.group, colours)) for each in means.values()
        ]
        self._raw.show_lines(raw, is_fine)
        self._main.show_lines(main, is_fine)
        self._draw_bands(picture)
        single = [Dot(x[0], y[0], colour) for x, y, colour in main if len(x) == 1]
        self._marks.show_dots([dot for dot in single if math.isfinite(dot.y)])
        self._marks.show_odd(picture.odd, QColor(colours.bad))

    def _draw_bands(self, picture: Picture) -> None:
        groups = [group for group in picture.groups if group.runs > 1]
        for _ in range(len(groups) - len(self._bands)):
            made = Band()
            self.getPlotItem().getViewBox().addItem(made, ignoreBounds=True)
            self._bands.append(made)
        for number, band in enumerate(self._bands):
            band.setVisible(number < len(groups))
            if number < len(groups):
                group = groups[number]
                colour = band_colour(group.group, self._theme.colours)
                band.show_range(group.x, group.low, group.high, colour)

    def _values_at(self, x: float) -> list[tuple[str, float, QColor]]:
        """Of groups where their mean is drawn, of runs otherwise: name, y and colour."""
        picture, colours = self._picture, self._theme.colours
        if picture is None:
            return []
        titles, labels = (
            self._model.titles,
            {each.number: each.label for each in self._model.groups},
        )
        means = {group.group for group in picture.groups if group.runs > 1}
        found = []
        for group in picture.groups:
            y = value_at(group.x, group.mean, x)
            if group.group in means and y is not None:
                found.append((labels.get(group.group, ""), y, run_colour(group.group, colours)))
        for run in picture.runs:
            y = run.value_at(x)
            if run.group not in means and y is not None:
                title = titles.get(run.run_id, run.run_id)
                found.append((title, y, run_colour(run.group, colours)))
        return sorted(found, key=lambda each: -each[1])

    def _read_out(self, x: float, at: QPointF) -> None:
        picture = self._picture
        values = self._values_at(x)
        if picture is None or not values:
            self._readout.hide()
            return
        rows = [
            ReadoutRow(colour, name, significant(10**y if picture.is_log else y))
            for name, y, colour in values
        ]
        head = f"{place_words(x, self._model.axis)} · click to replay"
        self._readout.show_rows(head, rows, at.toPoint(), self._area())
