"""StudyCharts: history plot, parameter plot or importance bars."""

import importlib
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from gym_gui.optuna.model.study_model import StudyModel
from gym_gui.optuna.model.study_points import history_points, setting_of, setting_points
from gym_gui.optuna.view.study_importance import StudyImportance
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import SegmentedControl

if TYPE_CHECKING:
    from gym_gui.optuna.model.study_model import ReadStudy
    from gym_gui.optuna.view.study_plots import StudyPlot

_PLOTS = "gym_gui.optuna.view.study_plots"


class StudyCharts(QWidget):
    """Shows `StudyModel`. Plots are created when first visible, after an import on a thread."""

    trial_clicked = Signal(int)

    def __init__(self, model: StudyModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._plots: Any = None
        self._plotted: dict[str, tuple[ReadStudy, int, str]] = {}
        self._is_loading = False
        self._marked: frozenset[int] = frozenset()
        self.history: StudyPlot | None = None
        self.scatter: StudyPlot | None = None
        line = self.fontMetrics().height()
        self.chart = SegmentedControl(
            (("history", "History"), ("parameter", "Parameter"), ("importance", "Importance")),
            theme,
        )
        self.param = _Picker("Parameter to plot")
        self.objective = _Picker("Objective to plot")
        self.importance = StudyImportance(model, theme)
        self._legends = {"history": QLabel(), "parameter": QLabel()}
        self._stack = QStackedWidget()
        self._history_page, self._scatter_page = map(_plot_container, self._legends.values())
        for page in (self._history_page, self._scatter_page, self.importance):
            self._stack.addWidget(page)
        bar = QHBoxLayout()
        bar.setSpacing(line // 2)
        bar.addWidget(self.chart)
        bar.addWidget(self.param, 1)
        bar.addWidget(self.objective, 1)
        bar.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 3 // 4, line // 3, line * 3 // 4, line // 3)
        layout.setSpacing(line // 3)
        self._stack.setMinimumHeight(line * 6)
        layout.addLayout(bar)
        layout.addWidget(self._stack, 1)
        self.chart.activated.connect(lambda _: self.update_charts())
        self.param.activated.connect(lambda _: self.update_charts())
        self.objective.activated.connect(model.set_objective)
        self.importance.param_selected.connect(self.show_param)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        if not self._is_loading:
            self._is_loading = True
            self._model.prepare(lambda: importlib.import_module(_PLOTS), self._on_loaded)

    def show_param(self, name: str) -> None:
        self.chart.set_current("parameter")
        self.param.setCurrentIndex(self.param.findText(name))
        self.update_charts()

    def mark(self, numbers: frozenset[int]) -> None:
        """Highlight the selected trials."""
        self._marked = numbers
        for plot in (self.history, self.scatter):
            if plot is not None:
                plot.mark(numbers)

    def update_charts(self) -> None:
        """Update the visible chart only."""
        chart, read = self.chart.current, self._model.read
        self._update_pickers()
        index = {"history": 0, "parameter": 1, "importance": 2}[chart]
        self._stack.setCurrentIndex(index)
        if chart == "importance":
            self.importance.update_bars()
        elif self._plots is not None and read is not None:
            self._update_plot(chart, read)

    def _on_loaded(self, plots: Any) -> None:
        self._plots = plots
        self.update_charts()

    def _plot(self, name: str, container: QWidget) -> "StudyPlot":
        plot: StudyPlot = self._plots.StudyPlot(name, self._theme)
        layout = container.layout()
        if isinstance(layout, QVBoxLayout):
            layout.insertWidget(0, plot, 1)
        plot.trial_clicked.connect(self.trial_clicked)
        plot.mark(self._marked)
        return plot

    def _update_plot(self, chart: str, read: "ReadStudy") -> None:
        """Draw the chart unless it is up to date."""
        request = (read, self._model.objective, self.param.currentText())
        plotted = self._plotted.get(chart)
        if plotted is not None and plotted[0] is read and plotted[1:] == request[1:]:
            return
        self._plotted[chart] = request
        if chart == "history":
            self._update_history(read)
        else:
            self._update_scatter(read)

    def _update_history(self, read: "ReadStudy") -> None:
        if self.history is None:
            self.history = self._plot("Values of the trials", self._history_page)
        points = history_points(read, self._model.objective)
        self.history.show_points(points, self._model.best_so_far)
        self._show_legend("history", len(points), "by trial; line: best so far")

    def _update_scatter(self, read: "ReadStudy") -> None:
        if self.scatter is None:
            self.scatter = self._plot("Values by parameter", self._scatter_page)
        name = self.param.currentText()
        setting = setting_of(read, name)
        points = setting_points(read, self._model.objective, name, setting)
        self.scatter.show_points(points, setting=setting)
        self._show_legend(
            "parameter", len(points), f"by {name}{', logarithmic' if setting.is_log else ''}"
        )

    def _show_legend(self, chart: str, points: int, by: str) -> None:
        read = self._model.read
        if not points or read is None:
            self._legends[chart].setText("No trial has a value yet.")
            return
        several = len(read.study.directions) > 1
        value = f"Value {self._model.objective + 1}" if several else "Value"
        best = "on the Pareto front" if several else "best"
        pruned = " · hollow: pruned" if read.counts.get("pruned") else ""
        self._legends[chart].setText(f"{value} {by} · ★ {best}{pruned}")

    def _update_pickers(self) -> None:
        study = self._model.study
        self.param.show_texts(self._model.params)
        self.param.setVisible(self.chart.current == "parameter")
        directions = study.directions if study else ()
        self.objective.show_texts(
            tuple(
                f"value {index + 1}, {direction[:3]}" for index, direction in enumerate(directions)
            )
        )
        self.objective.setVisible(len(directions) > 1)
        if len(directions) > self._model.objective:
            self.objective.setCurrentIndex(self._model.objective)


class _Picker(QComboBox):
    """Keeps the selection when items are added."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)

    def show_texts(self, texts: tuple[str, ...]) -> None:
        if texts == tuple(self.itemText(index) for index in range(self.count())):
            return
        selected = self.currentText()
        self.clear()
        self.addItems(list(texts))
        self.setCurrentIndex(max(0, self.findText(selected)))


def _plot_container(legend: QLabel) -> QWidget:
    """A container for a plot, with its legend below."""
    legend.setProperty("role", "caption")
    container = QWidget()
    layout = QVBoxLayout(container)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(legend.fontMetrics().height() // 3)
    layout.addWidget(legend, 0, Qt.AlignmentFlag.AlignBottom)
    return container
