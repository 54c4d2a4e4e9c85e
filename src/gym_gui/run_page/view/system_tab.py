"""SystemTab: CPU and memory usage of a run over time."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.model.run_usage_model import percent
from gym_gui.run_page.view.usage_plot import UsagePlot
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.labels import SteadyLabel
from mosaic.contract.formatting import format_size

_SIDE_BY_SIDE_FROM = 52
"""Ems of width."""
_MEGABYTE = 1_048_576


class SystemTab(QWidget):
    """Shows `RunUsageModel`. Live while the run is active."""

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._usage = model.usage
        line = self.fontMetrics().height()
        self.cpu = UsagePlot("CPU", percent, theme)
        self.memory = UsagePlot("Memory", format_size, theme)
        self._stats: list[tuple[QLabel, SteadyLabel]] = []
        stats = QWidget()
        self._row = FlowLayout(stats, gap=line)
        self._plots = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._plots.setSpacing(line)
        self._plots.addLayout(_titled("CPU, percent of one CPU", self.cpu), 1)
        self._plots.addLayout(_titled("Memory", self.memory), 1)
        charts = QWidget()
        charts.setLayout(self._plots)
        self._plots.setContentsMargins(0, 0, 0, 0)
        self._empty = EmptyState("speed", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.setMinimumHeight(line * 3)
        self._stack.addWidget(charts)
        self._stack.addWidget(self._empty)
        self._machine = QLabel()
        self._machine.setProperty("role", "caption")
        self._machine.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, line * 2 // 3, line, line // 2)
        layout.setSpacing(line // 2)
        layout.addWidget(stats)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self._machine)
        self._usage.changed.connect(self._update)
        model.changed.connect(self._update)
        self._update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() >= self.fontMetrics().height() * _SIDE_BY_SIDE_FROM
        self._plots.setDirection(
            QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        )

    def stat(self, name: str) -> str:
        """The value of that name; empty if there is none."""
        return next((value.text() for label, value in self._stats if label.text() == name), "")

    def _update(self) -> None:
        usage = self._usage
        self._show_stats(usage.stats if usage.run_id else [])
        self._stack.setCurrentIndex(0 if usage.has_history else 1)
        if usage.has_history:
            cpus, machine = usage.total_cpus, usage.machine
            self.cpu.show_series(usage.cpu, 100.0 * cpus if cpus else None)
            limit = float(machine.health.memory_mb * _MEGABYTE) if machine else None
            self.memory.show_series(usage.memory, limit or None)
        else:
            self._show_empty_reason()
        text = usage.machine_text
        if self._machine.text() != text:
            self._machine.setText(text)
            self._machine.setToolTip("Machine of the daemon")

    def _show_empty_reason(self) -> None:
        run = self._model.run
        if run is not None and run.state.is_final:
            text = "The run was too short for two heartbeats, or its worker reports none."
            self._empty.show_message("No history", text)
        elif run is not None and run.started_at is None:
            self._empty.show_message(
                "Not started yet", "CPU and memory usage appear once the run starts."
            )
        else:
            text = "The worker reports its usage every few seconds."
            self._empty.show_message("Waiting for data", text)

    def _show_stats(self, stats: list[tuple[str, str, str]]) -> None:
        if [name for name, _, _ in stats] != [label.text() for label, _ in self._stats]:
            self._row.clear()
            self._stats = [self._add_stat(name, tip) for name, _, tip in stats]
        for (_, label), (_, value, _) in zip(self._stats, stats, strict=True):
            label.setText(value)

    def _add_stat(self, name: str, tip: str) -> tuple[QLabel, SteadyLabel]:
        caption = QLabel(name)
        caption.setProperty("role", "caption")
        value = SteadyLabel("0" * 6)
        value.setAccessibleName(name)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for label in (caption, value):
            label.setToolTip(tip)
            column.addWidget(label)
        self._row.addWidget(holder)
        holder.show()
        return caption, value


def _titled(title: str, plot: UsagePlot) -> QVBoxLayout:
    heading = QLabel(title)
    heading.setProperty("role", "caption")
    column = QVBoxLayout()
    column.setSpacing(0)
    column.addWidget(heading)
    column.addWidget(plot, 1)
    return column
