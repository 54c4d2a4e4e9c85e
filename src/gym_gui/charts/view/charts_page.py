"""ChartsPage: one plot for each metric of the selected runs. Shows `ChartsModel`."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gym_gui.charts.model.chart_metrics import MetricKey, name_of
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.chart_bar import ChartBar
from gym_gui.charts.view.chart_board import ChartBoard
from gym_gui.charts.view.chart_card import PlotSkeleton
from gym_gui.charts.view.chart_files import render_chart
from gym_gui.charts.view.run_legend import LegendArea, RunLegend, visible_labels
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.empty_state import EmptyState

if TYPE_CHECKING:
    from gym_gui.charts.view.metric_plot import MetricPlot

_PLOTS = "gym_gui.charts.view.metric_plot"
_NARROW_LINES = 36
_MIN_METRICS_FOR_SEARCH = 6


class ChartsPage(QWidget):
    """Fetches nothing while it is hidden."""

    episode_requested = Signal(str, int, int)
    """A click on a curve: run, episode and step in the episode."""
    run_requested = Signal()
    """Choose a run, because none is selected."""

    def __init__(
        self,
        model: ChartsModel,
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        has_scores: bool = True,
    ) -> None:
        """`has_scores`: show the tables of final scores below the curves."""
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._is_loading = False
        self._is_narrow = False
        line = self.fontMetrics().height()
        self.bar = ChartBar(model, theme)
        self.legend = RunLegend(model, theme)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a metric")
        self.search.setAccessibleName("Find a metric")
        self.search.setClearButtonEnabled(True)
        self.search.setFixedWidth(round(line * 7.5))
        self.banner = Banner(theme)
        self.board = ChartBoard(model, theme, has_scores=has_scores)
        self.empty = EmptyState("chart", "", "", theme)
        self._no_match = EmptyState("search", "", "", theme, action="Show all metrics")
        self._stack = QStackedWidget()
        for widget in (self.empty, PageSkeleton(theme), self.board, self._no_match):
            self._stack.addWidget(widget)
        self._header = QWidget()
        header = QVBoxLayout(self._header)
        header.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 3)
        header.setSpacing(line // 2)
        header.addWidget(self.bar)
        self._legend_row = QHBoxLayout()
        self._legend_row.addWidget(LegendArea(self.legend), 1)
        self._legend_row.addWidget(self.search, 0, Qt.AlignmentFlag.AlignTop)
        header.addLayout(self._legend_row)
        header.addWidget(self.banner)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addWidget(self._stack, 1)
        self._subscribe()
        self._update()

    def _subscribe(self) -> None:
        model = self._model
        model.changed.connect(self._update)
        self.search.textChanged.connect(model.search)
        self._no_match.action_triggered.connect(self.search.clear)
        self.empty.action_triggered.connect(self._on_empty_acted)
        self.board.picked.connect(model.find_episode)
        model.episode_found.connect(self.episode_requested)
        self.board.export_requested.connect(self._export_card)
        self.bar.export_requested.connect(self._export)
        self.bar.folder_requested.connect(self.choose_folder)

    def choose_folder(self) -> None:
        """Choose a folder of event files and show its curves."""
        dialog = QFileDialog(self, "Open a folder of event files")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self._model.show_folder(Path(path)))
        dialog.open()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.set_visible(True)
        if not self._is_loading:
            self._is_loading = True
            # Importing pyqtgraph takes a third of a second: off the UI thread.
            self._model.prepare(lambda: importlib.import_module(_PLOTS), self._on_loaded)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """On a narrow page the legend needs the complete row."""
        super().resizeEvent(event)
        is_narrow = self.width() < self.fontMetrics().height() * _NARROW_LINES
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            if is_narrow:
                self.bar.add(self.search)
            else:
                self._legend_row.addWidget(self.search, 0, Qt.AlignmentFlag.AlignTop)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.set_visible(False)

    def _on_loaded(self, plots: Any) -> None:
        def make(key: MetricKey) -> "MetricPlot":
            plot: MetricPlot = plots.MetricPlot(key, self._model, self._theme)
            return plot

        self.board.start(make)

    def _update(self) -> None:
        model, phase = self._model, self._model.phase
        self._header.setVisible(phase == "ready")
        if phase == "ready":
            self.bar.update_choices()
            self.legend.update_runs()
            self._update_search()
            self._update_banner()
            self.board.update_metrics()
            page = self.board if model.matching_metrics else self._no_match
            self._stack.setCurrentWidget(page)
        elif phase in ("loading", "connecting"):
            self._stack.setCurrentIndex(1)
        else:
            self.empty.show_message(*self._empty_text())
            self._stack.setCurrentWidget(self.empty)

    def _update_search(self) -> None:
        model = self._model
        count = sum(len(group.keys) for group in model.metric_groups)
        self.search.setVisible(count >= _MIN_METRICS_FOR_SEARCH or bool(model.search_text))
        if not model.matching_metrics:
            self._no_match.show_message(
                "No matching metric",
                f"None of {count} metrics matches “{model.search_text}”.",
                "Show all metrics",
            )

    def _update_banner(self) -> None:
        model = self._model
        message = ""
        if model.is_lost:
            message = "The daemon does not answer. The curves are not updated until it is back."
        elif model.problem:
            message = model.problem
        if message == self.banner.message:
            return
        if message:
            act = "Start daemon" if model.is_lost else "Try again"
            self.banner.show_message(message, "warning", [(act, model.retry)])
        else:
            self.banner.clear()

    def _empty_text(self) -> tuple[str, str, str]:
        model = self._model
        match model.phase:
            case "empty":
                return (
                    "No run selected",
                    "Choose one or several runs in the list.",
                    "Choose a run",
                )
            case "lost":
                return (
                    "The daemon does not answer",
                    "Curves appear as soon as it is back.",
                    "Start daemon",
                )
            case "failed":
                return ("This run cannot be read", model.problem, "Try again")
        if model.is_running:
            return ("No metrics yet", "They appear as soon as the run reports some.", "")
        return ("This run has no metrics", "It ended without reporting metrics.", "")

    def _on_empty_acted(self) -> None:
        if self._model.phase == "empty":
            self.run_requested.emit()
        else:
            self._model.retry()

    # Export.

    def _export(self, kind: str) -> None:
        model = self._model
        if kind == "scores":
            model.save_scores()
        elif kind == "csv":
            keys = [key for group in model.matching_metrics for key in group.keys]
            model.save_points(f"{self._title()} metrics", keys)
        else:
            self.board.show_crosshair(None)
            write = render_chart(self.board.viewport(), self._labels(), self._theme.colours, kind)
            model.exports.save(f"{self._title()} charts", kind, write)

    def _export_card(self, key: MetricKey, kind: str) -> None:
        title = f"{self._title()} {name_of(key)}"
        card = self.board.card(key)
        if kind == "csv":
            self._model.save_points(title, (key,))
        elif card is not None:
            self.board.show_crosshair(None)
            write = render_chart(card, self._labels(), self._theme.colours, kind)
            self._model.exports.save(title, kind, write)

    def _labels(self) -> list[tuple[int, str]]:
        return visible_labels(self._model.groups, self._model.hidden)

    def _title(self) -> str:
        titles = self._model.titles
        return next(iter(titles.values())) if len(titles) == 1 else f"{len(titles)} runs"


class PageSkeleton(QWidget):
    """A large and a small plot, while the names of the metrics are loading."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, line, line, line)
        layout.setSpacing(line)
        layout.addWidget(PlotSkeleton(theme), 3)
        layout.addWidget(PlotSkeleton(theme), 2)
        self.setAccessibleName("Loading metrics")
