"""ChartCard: a metric's name, its plot once it comes in sight, and what can be done with it."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
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

from gym_gui.models.chart_metrics import MetricKey, name_of
from gym_gui.models.charts_model import ChartsModel
from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.charts.skeleton import PlotSkeleton
from gym_gui.views.elements.elided_label import ElidedLabel
from gym_gui.views.elements.icons import IconName, keep_icon

if TYPE_CHECKING:
    from gym_gui.views.charts.metric_plot import MetricPlot

MakePlot = Callable[[MetricKey], "MetricPlot"]
_AXIS_WORDS = {"step": "steps", "episode": "episodes", "time": "time"}
_LINES_HIGH = 11
_LINES_HIGH_LARGE = 18


class ChartCard(QWidget):
    """Light until it is in sight: only then a plot is made."""

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
        self._is_large = False
        line = self.fontMetrics().height()
        self._title = ElidedLabel("heading")
        self._title.say(name_of(key))
        self._title.setToolTip(key.name)
        self._note = QLabel()
        self._note.setProperty("role", "caption")
        self._whole = self._tool("reset", "Show the whole curve (double-click, or Home)", theme)
        self._whole.hide()
        self._large = self._tool("fullscreen", "Enlarge this plot", theme)
        self._more = self._tool("more", f"More for {name_of(key)}", theme)
        self._body = QStackedWidget()
        self._body.addWidget(PlotSkeleton(theme))
        self._nothing = QLabel()
        self._nothing.setProperty("role", "muted")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setWordWrap(True)
        self._body.addWidget(self._nothing)
        head = QHBoxLayout()
        head.setSpacing(line // 4)
        head.addWidget(self._title, 1)
        for each in (self._note, self._whole, self._large, self._more):
            head.addWidget(each)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self._body, 1)
        self._large.clicked.connect(lambda: self.enlarge_wanted.emit(self.key))
        self._more.clicked.connect(self._open_menu)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.set_large(False)

    def set_large(self, is_large: bool) -> None:
        self._is_large = is_large
        self.setMinimumHeight(self.sizeHint().height())
        self.updateGeometry()
        self.update_note()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 16, line * (_LINES_HIGH_LARGE if self._is_large else _LINES_HIGH))

    def set_enlarged(self, is_enlarged: bool) -> None:
        self._large.setToolTip("Back to all plots (Esc)" if is_enlarged else "Enlarge this plot")
        self._large.setAccessibleName(self._large.toolTip())

    def make_plot(self, make: MakePlot) -> None:
        if self.plot is not None:
            return
        self.plot = make(self.key)
        self.plot.zoom_changed.connect(self._whole.setVisible)
        self._whole.clicked.connect(self.plot.show_whole)
        self._body.addWidget(self.plot)
        self.plot.ask()
        self.redraw()

    def drop_plot(self) -> None:
        """Out of sight for long: its memory is let go."""
        if self.plot is not None:
            self._body.setCurrentIndex(0)
            self._body.removeWidget(self.plot)
            self.plot.deleteLater()
            self.plot = None
            self._whole.hide()

    def redraw(self) -> None:
        picture = self._model.picture(self.key)
        if self.plot is None or picture is None:
            return
        self.update_note()
        if picture.is_empty:
            self._nothing.setText(self._why_nothing())
            self._body.setCurrentWidget(self._nothing)
            return
        self.plot.draw(picture)
        self._body.setCurrentWidget(self.plot)

    def update_note(self) -> None:
        """What the x axis is, and what the plot cannot show."""
        picture = self._model.picture(self.key)
        # All plots have the same x axis: said once, below the largest.
        words = [_AXIS_WORDS[self._model.axis]] if self._is_large else []
        if picture is not None and picture.left_out:
            words.insert(0, f"{picture.left_out:,} values of 0 or less not on a log scale")
        if picture is not None and picture.odd:
            words.insert(0, "✕ not a number")
        self._note.setText(" · ".join(words))

    def restyle(self) -> None:
        if self.plot is not None:
            self.plot.restyle()

    def _why_nothing(self) -> str:
        model = self._model
        if model.hidden:
            return "All runs that tell this are hidden."
        if model.axis == "time" and self.key.name.startswith("episodes/"):
            return "Episodes of this run carry no time. Choose steps or episodes above."
        if model.axis == "episode":
            return "This run does not tell where its episodes end. Choose steps or time."
        return "No points yet."

    def _tool(self, name: IconName, tip: str, theme: ThemeModel) -> QToolButton:
        button = QToolButton()
        keep_icon(button, name, theme, "muted")
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        return button

    def _open_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self.plot is not None:
            menu.addAction("Show the whole curve", self.plot.show_whole)
            menu.addSeparator()
        for kind, words in (
            ("png", "Save as PNG"),
            ("svg", "Save as SVG"),
            ("csv", "Save all points as CSV"),
        ):
            menu.addAction(words, partial(self.export_wanted.emit, self.key, kind))
        menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))
