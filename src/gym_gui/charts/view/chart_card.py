"""ChartCard: where a metric is drawn. Empty until it comes in sight, for there may be hundreds."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from gym_gui.charts.model.chart_confidence import BAND_NOTE, LEAST_FOR_BAND, NO_BAND_NOTE
from gym_gui.charts.model.chart_metrics import MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.card_head import CardHead
from gym_gui.charts.view.skeleton import PlotSkeleton
from gym_gui.runtime.models.theme_model import ThemeModel

if TYPE_CHECKING:
    from gym_gui.charts.view.metric_plot import MetricPlot

_AXIS_WORDS = {"step": "steps", "episode": "episodes", "time": "time"}
_LINES_HIGH = 11
_LINES_HIGH_LARGE = 18


class ChartCard(QWidget):
    """First `fill`, then `give_plot`: the board does both a few at a time."""

    export_wanted = Signal(object, str)
    """The key, and `png`, `svg` or `csv`."""
    enlarge_wanted = Signal(object)

    def __init__(
        self, key: MetricKey, model: ChartsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.key = key
        self.plot: MetricPlot | None = None
        self.is_in_sight = False
        self._model = model
        self._theme = theme
        self._is_large = self._is_enlarged = False
        self._head: CardHead | None = None
        self._body: QStackedWidget | None = None
        self._nothing: QLabel | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setMinimumHeight(self.sizeHint().height())

    @property
    def is_filled(self) -> bool:
        return self._head is not None

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
        if self._head is not None:
            self._head.set_enlarged(is_enlarged)

    def fill(self) -> None:
        """It has come in sight: all but the plot."""
        if self._head is not None:
            return
        self._head = CardHead(self.key, self._theme)
        self._head.set_enlarged(self._is_enlarged)
        self._head.enlarge_wanted.connect(lambda: self.enlarge_wanted.emit(self.key))
        self._head.more_wanted.connect(self._open_menu)
        self._head.whole_wanted.connect(self._show_whole)
        self._nothing = QLabel()
        self._nothing.setProperty("role", "muted")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setWordWrap(True)
        self._body = QStackedWidget()
        self._body.addWidget(PlotSkeleton(self._theme))
        self._body.addWidget(self._nothing)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._head)
        layout.addWidget(self._body, 1)
        self.update_note()

    def give_plot(self, plot: "MetricPlot") -> None:
        """One that shows this card's metric; the card is filled."""
        if self._head is None or self._body is None:
            return
        self.plot = plot
        plot.zoom_changed.connect(self._head.set_zoomed)
        self._body.addWidget(plot)
        plot.ask()
        self.redraw()

    def take_plot(self) -> "MetricPlot | None":
        """Out of sight for long: somebody else may have it."""
        plot, self.plot = self.plot, None
        if plot is not None and self._body is not None and self._head is not None:
            plot.zoom_changed.disconnect(self._head.set_zoomed)
            self._head.set_zoomed(False)
            plot.hide()
            self._body.removeWidget(plot)
            self._body.setCurrentIndex(0)
        return plot

    def redraw(self) -> None:
        picture = self._model.picture(self.key)
        if self.plot is None or picture is None or self._body is None or self._nothing is None:
            return
        self.update_note()
        if picture.is_empty:
            self._nothing.setText(self._why_nothing())
            self._body.setCurrentWidget(self._nothing)
            return
        self.plot.draw(picture)
        self._body.setCurrentWidget(self.plot)

    def update_note(self) -> None:
        """What the x axis is, what the band is, and what the plot cannot show."""
        if self._head is None:
            return
        picture = self._model.picture(self.key)
        words = []
        if picture is not None and picture.odd:
            words.append("✕ not a number")
        if picture is not None and picture.left_out:
            words.append(f"{picture.left_out:,} values of 0 or less not on a log scale")
        if self._model.is_from_events(self.key):
            words.append("event file")
        # All plots have the same x axis and bands: said once, above the largest.
        if self._is_large:
            runs = [each.runs for each in picture.groups] if picture is not None else []
            if any(count > 1 for count in runs):
                words.append(BAND_NOTE if max(runs) >= LEAST_FOR_BAND else NO_BAND_NOTE)
            words.append(_AXIS_WORDS[self._model.axis])
        self._head.say(" · ".join(words))

    def restyle(self) -> None:
        if self.plot is not None:
            self.plot.restyle()

    def _show_whole(self) -> None:
        if self.plot is not None:
            self.plot.show_whole()

    def _why_nothing(self) -> str:
        model = self._model
        if model.hidden:
            return "All runs that tell this are hidden."
        if model.axis == "time" and self.key.name.startswith("episodes/"):
            return "Episodes of this run carry no time. Choose steps or episodes above."
        if model.axis == "episode":
            return "This run does not tell where its episodes end. Choose steps or time."
        return "No points yet."

    def _open_menu(self) -> None:
        if self._head is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Show the whole curve", self._show_whole)
        menu.addSeparator()
        for kind, words in (
            ("png", "Save as PNG"),
            ("svg", "Save as SVG"),
            ("csv", "Save all points as CSV"),
        ):
            menu.addAction(words, partial(self.export_wanted.emit, self.key, kind))
        more = self._head.more
        menu.popup(more.mapToGlobal(more.rect().bottomLeft()))
