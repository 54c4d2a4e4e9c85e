"""ChartCard: the plot of one metric with its header. Empty until it is visible."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.charts.model.chart_confidence import BAND_NOTE, MIN_RUNS_FOR_BAND, NO_BAND_NOTE
from gym_gui.charts.model.chart_metrics import MetricKey, name_of
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.labels import ElidedLabel
from gym_gui.widgets.styling import blend

if TYPE_CHECKING:
    from gym_gui.charts.view.metric_plot import MetricPlot

_AXIS_TEXT = {"step": "steps", "episode": "episodes", "time": "time"}
_SKELETON_LINES = 4
_LINES_HIGH = 11
_LINES_HIGH_LARGE = 18


class CardHeader(QWidget):
    """The name of the metric, a note and the buttons. Created when the card becomes visible."""

    reset_requested = Signal()
    enlarge_requested = Signal()
    menu_requested = Signal()

    def __init__(self, key: MetricKey, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = ElidedLabel("heading")
        self._title.show_text(name_of(key))
        self._title.setToolTip(key.name)
        self._note = QLabel()
        self._note.setProperty("role", "caption")
        self._reset = _tool("reset", "Show the complete curve (double-click, or Home)", theme)
        self._reset.hide()
        self._enlarge = _tool("fullscreen", "Enlarge this plot", theme)
        self.more = _tool("more", f"More for {name_of(key)}", theme)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(self.fontMetrics().height() // 4)
        row.addWidget(self._title, 1)
        for widget in (self._note, self._reset, self._enlarge, self.more):
            row.addWidget(widget)
        self._reset.clicked.connect(self.reset_requested)
        self._enlarge.clicked.connect(self.enlarge_requested)
        self.more.clicked.connect(self.menu_requested)

    def show_note(self, note: str) -> None:
        if note != self._note.text():
            self._note.setText(note)

    def set_zoomed(self, is_zoomed: bool) -> None:
        self._reset.setVisible(is_zoomed)

    def set_enlarged(self, is_enlarged: bool) -> None:
        self._enlarge.setToolTip("Show all plots (Esc)" if is_enlarged else "Enlarge this plot")
        self._enlarge.setAccessibleName(self._enlarge.toolTip())


class ChartCard(QWidget):
    """First `fill`, then `set_plot`: the board calls both in batches."""

    export_requested = Signal(object, str)
    """The metric, and `png`, `svg` or `csv`."""
    enlarge_requested = Signal(object)

    def __init__(
        self, key: MetricKey, model: ChartsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.key = key
        self.plot: MetricPlot | None = None
        self.is_on_screen = False
        self._model = model
        self._theme = theme
        self._is_large = self._is_enlarged = False
        self._header: CardHeader | None = None
        self._body: QStackedWidget | None = None
        self._placeholder: QLabel | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setMinimumHeight(self.sizeHint().height())

    @property
    def is_filled(self) -> bool:
        return self._header is not None

    def set_large(self, is_large: bool) -> None:
        if is_large == self._is_large:
            return
        self._is_large = is_large
        self.setMinimumHeight(self.sizeHint().height())
        self.updateGeometry()
        self.update_note()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 16, line * (_LINES_HIGH_LARGE if self._is_large else _LINES_HIGH))

    def set_enlarged(self, is_enlarged: bool) -> None:
        self._is_enlarged = is_enlarged
        if self._header is not None:
            self._header.set_enlarged(is_enlarged)

    def fill(self) -> None:
        """Create all widgets except the plot."""
        if self._header is not None:
            return
        self._header = CardHeader(self.key, self._theme)
        self._header.set_enlarged(self._is_enlarged)
        self._header.enlarge_requested.connect(lambda: self.enlarge_requested.emit(self.key))
        self._header.menu_requested.connect(self._open_menu)
        self._header.reset_requested.connect(self._show_full_range)
        self._placeholder = QLabel()
        self._placeholder.setProperty("role", "muted")
        self._placeholder.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._placeholder.setWordWrap(True)
        self._body = QStackedWidget()
        self._body.addWidget(PlotSkeleton(self._theme))
        self._body.addWidget(self._placeholder)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addWidget(self._body, 1)
        self.update_note()

    def set_plot(self, plot: "MetricPlot") -> None:
        """Show this plot of the card's metric. Requires `fill`."""
        if self._header is None or self._body is None:
            return
        self.plot = plot
        plot.zoom_changed.connect(self._header.set_zoomed)
        self._body.addWidget(plot)
        plot.request_data()
        self.redraw()

    def release_plot(self) -> "MetricPlot | None":
        """Remove the plot, so that another card can use it."""
        plot, self.plot = self.plot, None
        if plot is not None and self._body is not None and self._header is not None:
            plot.zoom_changed.disconnect(self._header.set_zoomed)
            self._header.set_zoomed(False)
            plot.hide()
            self._body.removeWidget(plot)
            self._body.setCurrentIndex(0)
        return plot

    def redraw(self) -> None:
        plot_data = self._model.plot_data(self.key)
        if (
            self.plot is None
            or plot_data is None
            or self._body is None
            or self._placeholder is None
        ):
            return
        self.update_note()
        if plot_data.is_empty:
            self._placeholder.setText(self._empty_reason())
            self._body.setCurrentWidget(self._placeholder)
            return
        self.plot.draw(plot_data)
        self._body.setCurrentWidget(self.plot)

    def update_note(self) -> None:
        """Update the note: values that cannot be shown, the band and the x axis."""
        if self._header is None:
            return
        plot_data = self._model.plot_data(self.key)
        notes = []
        if plot_data is not None and plot_data.odd:
            notes.append("✕ not finite")
        if plot_data is not None and plot_data.left_out:
            notes.append(f"{plot_data.left_out:,} values ≤ 0 not shown on a log scale")
        if self._model.is_from_events(self.key):
            notes.append("event file")
        # All plots share the x axis and the bands: shown once, above the largest plot.
        if self._is_large:
            runs = [group.runs for group in plot_data.groups] if plot_data is not None else []
            if any(count > 1 for count in runs):
                notes.append(BAND_NOTE if max(runs) >= MIN_RUNS_FOR_BAND else NO_BAND_NOTE)
            notes.append(_AXIS_TEXT[self._model.axis])
        self._header.show_note(" · ".join(notes))

    def restyle(self) -> None:
        if self.plot is not None:
            self.plot.restyle()

    def _show_full_range(self) -> None:
        if self.plot is not None:
            self.plot.show_full_range()

    def _empty_reason(self) -> str:
        model = self._model
        if model.hidden:
            return "All runs with this metric are hidden."
        if model.axis == "time" and self.key.name.startswith("episodes/"):
            return "Episodes of this run have no time. Choose steps or episodes above."
        if model.axis == "episode":
            return "This run does not report episode ends. Choose steps or time."
        return "No points yet."

    def _open_menu(self) -> None:
        if self._header is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Show the complete curve", self._show_full_range)
        menu.addSeparator()
        for kind, text in (
            ("png", "Save as PNG"),
            ("svg", "Save as SVG"),
            ("csv", "Save all points as CSV"),
        ):
            menu.addAction(text, partial(self.export_requested.emit, self.key, kind))
        more = self._header.more
        menu.popup(more.mapToGlobal(more.rect().bottomLeft()))


class PlotSkeleton(QWidget):
    """Grid lines in place of a plot that is loading."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        ink = blend(colours.line, colours.surface, 0.6)
        line = self.fontMetrics().height()
        box = QRectF(self.rect()).adjusted(line * 2.6, line / 2, -line / 2, -line * 1.5)
        painter = QPainter(self)
        for number in range(_SKELETON_LINES):
            y = round(box.top() + box.height() * number / (_SKELETON_LINES - 1)) + 0.5
            painter.setPen(QPen(ink, 1.0))
            painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
            painter.fillRect(QRectF(line * 0.9, y - line / 4, line * 1.2, line / 2), ink)
        painter.end()


def _tool(name: IconName, tip: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    set_icon(button, name, theme, "muted")
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    return button
