"""MetricPlot: the plot of one metric. Imported off the UI thread, for pyqtgraph.

Drag to pan, Ctrl and the wheel to zoom, double-click for the complete curve, click to open the
episode. The wheel alone scrolls the page.
"""

import math
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from gym_gui.charts.model.chart_metrics import MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.model.plot_data import PlotData, RunTrace, nearest_point, value_at
from gym_gui.charts.view.run_colours import band_colour, raw_colour, run_colour
from gym_gui.runtime.models.formatting import format_significant
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.plots.plot_axes import XAxis, YAxis, format_x, style_axes
from gym_gui.widgets.plots.plot_items import Band, Dot, Line, Lines, Marks
from gym_gui.widgets.plots.readout import Readout, ReadoutRow
from gym_gui.widgets.styling import scaled_font

_MAX_ANTIALIASED_POINTS = 6_000
"""Antialiasing of more points is too slow."""
_PAD = 0.06
_MAX_Y = 1e300
"""Limit of the view, so that its height and margins stay finite."""
_ZOOM = 1.0015
_STEP = 0.2
_RESERVE = 0.35
_FINER, _COARSER = 0.6, 1.7
"""How far the view may pan and zoom in the fetched range before a new fetch."""
_PIXEL_STEP = 160
_NEAR_PX = 24.0


class MetricPlot(pg.PlotWidget):  # type: ignore[misc, unused-ignore]
    """Without the name of the metric, which the card shows."""

    crosshair_moved = Signal(object)
    """The position of the mouse on the x axis; None outside of the plot."""
    picked = Signal(str, object, float, float)
    """A click near the curve of a run: run id, metric and nearest point."""
    zoom_changed = Signal(bool)

    def __init__(
        self, key: MetricKey, model: ChartsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        self._x_axis, self._y_axis = XAxis(), YAxis()
        super().__init__(
            parent=parent,
            background=None,
            axisItems={"bottom": self._x_axis, "left": self._y_axis},
            enableMenu=False,
        )
        self.key = key
        self._model = model
        self._theme = theme
        self._plot_data: PlotData | None = None
        self._full_range: tuple[float, float] | None = None
        self._visible_range: tuple[float, float] | None = None
        """None while the complete curve is visible."""
        self._requested_range: tuple[float, float] | None = None
        self._raw, self._main = Lines(0), Lines(10)
        self._bands: list[Band] = []
        self._marks, self._crosshair_dots = Marks(), Marks()
        self._crosshair = pg.InfiniteLine(angle=90)
        self._crosshair.setZValue(25)
        self._crosshair.hide()
        self._readout = Readout(theme, self)
        self._mouse: tuple[float, QPointF] | None = None
        """Its position on the x axis and in the widget."""
        self._is_setting_range = False
        self._set_up()
        self.restyle()

    def _set_up(self) -> None:
        item, box = self.getPlotItem(), self.getPlotItem().getViewBox()
        item.hideButtons()
        item.setContentsMargins(0, 2, 8, 0)
        box.setMouseEnabled(x=True, y=False)
        box.disableAutoRange()
        box.setDefaultPadding(0.0)
        # Grid lines behind the curves.
        self._y_axis.setZValue(-10)
        for lines in (self._raw, self._main):
            box.addItem(lines, ignoreBounds=True)
        for mark in (self._marks, self._crosshair_dots, self._crosshair):
            item.addItem(mark, ignoreBounds=True)
        self._y_axis.setWidth(self.fontMetrics().averageCharWidth() * 8)
        self._x_axis.setHeight(round(self.fontMetrics().height() * 1.5))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setMinimumSize(1, 1)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"Plot of {self.key.name}")
        box.sigXRangeChanged.connect(self._on_range)
        self.scene().sigMouseClicked.connect(self._on_click)

    # Contents.

    @property
    def visible_range(self) -> tuple[float, float] | None:
        return self._visible_range

    def show_metric(self, key: MetricKey) -> None:
        """Show another metric; the previous curves are cleared."""
        self.key = key
        self.setAccessibleName(f"Plot of {key.name}")
        self.reset_range()
        self._plot_data = None
        self._draw_curves(PlotData())

    def draw(self, plot_data: PlotData) -> None:
        self._plot_data = plot_data
        self._x_axis.is_time = self._model.axis == "time"
        self._y_axis.setLogMode(False, plot_data.is_log)
        if self._requested_range is None and plot_data.x_range is not None:
            self._full_range = plot_data.x_range
        self._draw_curves(plot_data)
        if self._visible_range is None:
            self._set_x_range(self._full_range)
        self._fit_values()
        if self._mouse is not None:
            self.show_crosshair(self._mouse[0])
            self._show_readout(*self._mouse)

    def restyle(self) -> None:
        """Apply the colours of the theme."""
        colours = self._theme.colours
        style_axes((self._x_axis, self._y_axis), colours, scaled_font(self.font(), 0.88))
        pen = pg.mkPen(colours.muted, width=1, style=Qt.PenStyle.DashLine)
        self._crosshair.setPen(pen)
        if self._plot_data is not None:
            self._draw_curves(self._plot_data)

    def show_full_range(self) -> None:
        """Reset the zoom."""
        self._visible_range = None
        self._set_x_range(self._full_range)
        self._fit_values()
        self.request_data()
        self.zoom_changed.emit(False)

    def reset_range(self) -> None:
        """Clear the ranges after a change of the x axis."""
        self._visible_range = self._requested_range = self._full_range = self._mouse = None
        self.show_crosshair(None)
        self.zoom_changed.emit(False)

    def show_crosshair(self, x: float | None) -> None:
        """A line at the position of the mouse, in this or another plot."""
        is_visible = x is not None and self._plot_data is not None and not self._plot_data.is_empty
        self._crosshair.setVisible(is_visible)
        if x is None or self._plot_data is None:
            self._crosshair_dots.show_dots(())
            self._readout.hide()
            return
        self._crosshair.setPos(x)
        self._crosshair_dots.show_dots([Dot(x, y, colour) for _, y, colour in self._values_at(x)])

    def request_data(self) -> None:
        """Subscribe to the visible range at the width of the plot."""
        width_px = self.getPlotItem().getViewBox().width() or self.width()
        pixels = max(1, math.ceil(width_px / _PIXEL_STEP)) * _PIXEL_STEP
        share = 1.0
        if self._visible_range is not None and self._full_range is not None:
            width = max(self._full_range[1] - self._full_range[0], 1e-12)
            share = 2 * (self._visible_range[1] - self._visible_range[0]) / width
        self._requested_range = self._visible_range
        self._model.subscribe(self.key, self._visible_range, share, pixels)

    # User input.

    def zoom(self, factor: float, around: float | None = None) -> None:
        """A factor above 1 zooms in."""
        first, last = self._view_range()
        middle = (first + last) / 2 if around is None else around
        self.set_visible_range(
            middle - (middle - first) / factor, middle + (last - middle) / factor
        )

    def set_visible_range(self, first: float, last: float) -> None:
        """Show this range of the x axis, at most the complete curve."""
        if self._full_range is None or last - first <= 0:
            return
        if first <= self._full_range[0] and last >= self._full_range[1]:
            self.show_full_range()
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
        first, last = self._view_range()
        by = (last - first) * _STEP
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.zoom(1.25)
            case Qt.Key.Key_Minus:
                self.zoom(0.8)
            case Qt.Key.Key_Left if self._visible_range:
                self.set_visible_range(first - by, last - by)
            case Qt.Key.Key_Right if self._visible_range:
                self.set_visible_range(first + by, last + by)
            case Qt.Key.Key_Home | Qt.Key.Key_0:
                self.show_full_range()
            case _:
                event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mouseMoveEvent(event)
        if not self._area().contains(event.position().toPoint()):
            self._leave()
            return
        box = self.getPlotItem().getViewBox()
        x = box.mapSceneToView(self.mapToScene(event.position().toPoint())).x()
        self._mouse = (x, event.position())
        self.crossed.emit(x)
        self._show_readout(*self._mouse)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().leaveEvent(event)
        self._leave()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        # The base class is resized during its construction.
        if getattr(self, "_plot_data", None) is not None:
            self.request_data()

    def _leave(self) -> None:
        self._mouse = None
        self.crossed.emit(None)

    def _on_click(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if event.double():
            self.show_full_range()
            return
        box = self.getPlotItem().getViewBox()
        if not box.sceneBoundingRect().contains(event.scenePos()):
            return
        at = box.mapSceneToView(event.scenePos())
        run = self._nearest(at)
        point = nearest_point(run.x, run.y, at.x()) if run is not None else None
        if run is not None and point is not None:
            is_log = self._plot_data is not None and self._plot_data.is_log
            self.picked.emit(run.run_id, self.key, point[0], 10 ** point[1] if is_log else point[1])

    def _nearest(self, at: QPointF) -> RunTrace | None:
        """The run whose curve is near a position."""
        if self._plot_data is None:
            return None
        height = self.getPlotItem().getViewBox().viewPixelSize()[1]
        candidates = [
            (abs(y - at.y()), run)
            for run in self._plot_data.runs
            for y in (value_at(run.x, run.y, at.x()), run.value_at(at.x()))
            if y is not None
        ]
        distance, nearest = min(candidates, key=lambda item: item[0], default=(math.inf, None))
        return nearest if distance <= _NEAR_PX * height else None

    # Implementation.

    def _view_range(self) -> tuple[float, float]:
        first, last = self.getPlotItem().getViewBox().viewRange()[0]
        return float(first), float(last)

    def _area(self) -> QRect:
        box = self.getPlotItem().getViewBox()
        area: QRect = self.mapFromScene(box.sceneBoundingRect()).boundingRect()
        return area

    def _set_x_range(self, x_range: tuple[float, float] | None) -> None:
        if x_range is None:
            return
        first, last = x_range
        if last <= first:
            first, last = first - 0.5, last + 0.5
        self._is_setting_range = True
        self.getPlotItem().getViewBox().setXRange(first, last, padding=0.0)
        self._is_setting_range = False

    def _on_range(self, _box: object, x_range: tuple[float, float]) -> None:
        if self._is_setting_range:
            return
        was_full = self._visible_range is None
        self._visible_range = (float(x_range[0]), float(x_range[1]))
        self._fit_values()
        if was_full:
            self.zoom_changed.emit(True)
        if self._needs_more():
            self.request_data()

    def _needs_more(self) -> bool:
        """Whether the visible range leaves the fetched one, or is much finer or coarser."""
        fetched, visible = self._requested_range or self._full_range, self._visible_range
        if fetched is None or visible is None:
            return True
        width, now = fetched[1] - fetched[0], visible[1] - visible[0]
        if now < width * _FINER or now > width * _COARSER:
            return True
        if self._requested_range is None:
            return False  # the complete curve is there
        return (
            visible[0] < fetched[0] - width * _RESERVE or visible[1] > fetched[1] + width * _RESERVE
        )

    def _fit_values(self) -> None:
        if self._plot_data is None:
            return
        y_range = self._plot_data.y_range(*self._view_range())
        if y_range is None:
            return
        low, high = (max(-_MAX_Y, min(_MAX_Y, value)) for value in y_range)
        pad = (high - low) * _PAD or max(abs(high) * 0.1, 0.5)
        self.getPlotItem().getViewBox().setYRange(low - pad, high + pad, padding=0.0)

    def _draw_curves(self, plot_data: PlotData) -> None:
        colours = self._theme.colours
        points = sum(len(run.x) + len(run.smooth_x) for run in plot_data.runs)
        is_fine = points <= _MAX_ANTIALIASED_POINTS
        means = {group.group: group for group in plot_data.groups if group.runs > 1}
        raw: list[Line] = []
        main: list[Line] = []
        for run in plot_data.runs:
            is_behind = len(run.smooth_x) > 0 or run.group in means
            colour = (raw_colour if is_behind else run_colour)(run.group, colours)
            (raw if is_behind else main).append(Line(run.x, run.y, colour))
            if len(run.smooth_x) and run.group not in means:
                main.append(Line(run.smooth_x, run.smooth_y, run_colour(run.group, colours)))
        main += [
            Line(mean.x, mean.mean, run_colour(mean.group, colours)) for mean in means.values()
        ]
        self._raw.show_lines(raw, is_fine)
        self._main.show_lines(main, is_fine)
        self._draw_bands(plot_data)
        single = [Dot(x[0], y[0], colour) for x, y, colour in main if len(x) == 1]
        self._marks.show_dots([dot for dot in single if math.isfinite(dot.y)])
        self._marks.show_non_finite(plot_data.odd, QColor(colours.bad))

    def _draw_bands(self, plot_data: PlotData) -> None:
        groups = [group for group in plot_data.groups if group.runs > 1]
        for _ in range(len(groups) - len(self._bands)):
            band = Band()
            self.getPlotItem().getViewBox().addItem(band, ignoreBounds=True)
            self._bands.append(band)
        for number, band in enumerate(self._bands):
            band.setVisible(number < len(groups))
            if number < len(groups):
                group = groups[number]
                colour = band_colour(group.group, self._theme.colours)
                band.show_range(group.x, group.low, group.high, colour)

    def _values_at(self, x: float) -> list[tuple[str, float, QColor]]:
        """Name, y and colour of groups with a mean, and of the other runs."""
        plot_data, colours = self._plot_data, self._theme.colours
        if plot_data is None:
            return []
        titles, labels = (
            self._model.titles,
            {group.number: group.label for group in self._model.groups},
        )
        means = {group.group for group in plot_data.groups if group.runs > 1}
        values = []
        for group in plot_data.groups:
            y = value_at(group.x, group.mean, x)
            if group.group in means and y is not None:
                values.append((labels.get(group.group, ""), y, run_colour(group.group, colours)))
        for run in plot_data.runs:
            y = run.value_at(x)
            if run.group not in means and y is not None:
                title = titles.get(run.run_id, run.run_id)
                values.append((title, y, run_colour(run.group, colours)))
        return sorted(values, key=lambda value: -value[1])

    def _show_readout(self, x: float, at: QPointF) -> None:
        plot_data = self._plot_data
        values = self._values_at(x)
        if plot_data is None or not values:
            self._readout.hide()
            return
        rows = [
            ReadoutRow(colour, name, format_significant(10**y if plot_data.is_log else y))
            for name, y, colour in values
        ]
        header = f"{format_x(x, self._model.axis)} · click to replay"
        self._readout.show_rows(header, rows, at.toPoint(), self._area())
