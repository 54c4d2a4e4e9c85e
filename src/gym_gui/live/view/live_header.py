"""LiveHeader: the header of the Live tab: run, state, progress and statistics."""

from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from gym_gui.live.model.live_model import LiveModel
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import format_decimal, format_integer, format_rate
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.labels import ElidedLabel, SteadyLabel
from mosaic.contract.formatting import format_clock
from mosaic.contract.run_states import LIVE_STATES

_STATS = (
    ("episode", "Newest episode"),
    ("step", "Newest step of the newest episode"),
    ("return", "Return of the newest episode so far"),
    ("mean return", "Mean of the last 100 finished episodes"),
    ("steps", "Steps of the run so far"),
    ("SPS", "Steps per second"),
)

_UNKNOWN = run_text.StateStyle("?", "unknown", "plain")
"""While the daemon does not answer."""


class LiveHeader(QWidget):
    """Shows a `LiveModel`. Changing numbers do not move other widgets."""

    def __init__(self, model: LiveModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._title = ElidedLabel("heading")
        self._state = Badge("", "plain", theme)
        self._source = QLabel()
        self._source.setProperty("role", "muted")
        self.agents = QComboBox()
        self.agents.setAccessibleName("Agent")
        self.agents.setToolTip("Agent whose steps, episodes and policy are shown")
        self.agents.activated.connect(lambda _: model.select_agent(self.agents.currentData()))
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setRange(0, 1000)
        self._progress.setAccessibleName("Progress")
        self._progress.setFixedHeight(max(4, line // 3))
        header = QHBoxLayout()
        header.setSpacing(line // 2)
        header.addWidget(self._title, 1)
        header.addWidget(self._source)
        header.addWidget(self.agents)
        header.addWidget(self._state)
        stats = QWidget()
        row = FlowLayout(stats, gap=line)
        self._values = [self._add_stat(row, name, tip) for name, tip in _STATS]
        self._note = QLabel()
        self._note.setProperty("role", "muted")
        self._note.hide()
        row.addWidget(self._note)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, line * 2 // 3, line, line // 2)
        layout.setSpacing(line // 2)
        layout.addLayout(header)
        layout.addWidget(self._progress)
        layout.addWidget(stats)
        model.changed.connect(self._update)
        self._update()

    def set_note(self, text: str) -> None:
        """Show a note after the statistics."""
        _set(self._note, text)
        self._note.setVisible(bool(text))

    def _add_stat(self, row: FlowLayout, name: str, tip: str) -> QLabel:
        caption = QLabel(name)
        caption.setProperty("role", "caption")
        value = SteadyLabel("0" * 8)
        value.setAccessibleName(name)
        stat = QWidget()
        column = QVBoxLayout(stat)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for label in (caption, value):
            label.setToolTip(tip)
            column.addWidget(label)
        row.addWidget(stat)
        return value

    def _update_agents(self) -> None:
        """Offer the agents of the run if it has several."""
        agents, selected = list(self._model.agents.names), self._model.agents.selected
        self.agents.setVisible(len(agents) > 1)
        if [self.agents.itemData(index) for index in range(self.agents.count())] != agents:
            self.agents.clear()
            for agent in agents:
                self.agents.addItem(agent, agent)
        if selected in agents:
            self.agents.setCurrentIndex(agents.index(selected))

    def _update(self) -> None:
        run = self._model.run
        if run is None:
            return
        self._update_agents()
        style = run_text.STATE_STYLES[run.state] if self._model.is_up_to_date else _UNKNOWN
        title = f"{run_text.title_of(run)}  {run_text.short_id(run.run_id)}"
        _set(self._title, title)
        self._title.setToolTip(run.run_id)
        environment = run_text.environment_text(run.env_id, self._model.env_kwargs)
        _set(self._source, f"{run_text.worker_label(run.worker)} · {environment}")
        if self._state.text() != f"{style.symbol} {style.word}":
            self._state.show_text(f"{style.symbol} {style.word}", style.tone)
        progress = run_text.progress_of(run)
        self._progress.setVisible(progress is not None)
        self._progress.setValue(round(1000 * (progress or 0.0)))
        self._progress.setToolTip(_progress_text(progress, run_text.time_left_of(run)))
        episode, step = self._model.newest_episode, self._model.step
        is_live = run.state in LIVE_STATES and self._model.is_up_to_date
        values = (
            format_integer(episode.episode) if episode else "",
            format_integer(step.step) if step else "",
            format_decimal(episode.total_return) if episode else "",
            format_decimal(run.digest.mean_return),
            format_integer(run.digest.steps_done) if run.digest.steps_done else "",
            format_rate(run_text.speed_of(run)) if is_live else "",
        )
        for label, value in zip(self._values, values, strict=True):
            _set(label, value or "—")


def _set(label: QLabel, text: str) -> None:
    """Skip the layout of a label whose text does not change."""
    if label.text() != text:
        label.setText(text)


def _progress_text(progress: float | None, eta_s: float | None) -> str:
    left = f", {format_clock(eta_s)} left" if eta_s is not None else ""
    return "" if progress is None else f"{progress:.0%} done{left}"
