"""LiveFigures: the head of the Live tab: which run, how it stands, and its numbers."""

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
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.steady_label import SteadyLabel
from mosaic.contract.run_states import LIVE_STATES

_FIGURES = (
    ("episode", "The newest episode"),
    ("step", "The newest step of it that is known"),
    ("return", "Of the newest episode, so far"),
    ("mean return", "Of the last 100 finished episodes"),
    ("steps", "Of the run, so far"),
    ("SPS", "Steps per second"),
)

_NOT_KNOWN = run_text.StateStyle("?", "not known now", "plain")
"""While the daemon does not answer: what is shown is what it said last."""


class LiveFigures(QWidget):
    """Numbers keep their places while they change."""

    def __init__(self, model: LiveModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._title = ElidedLabel("heading")
        self._state = Badge("", "plain", theme)
        self._where = QLabel()
        self._where.setProperty("role", "muted")
        self.agents = QComboBox()
        self.agents.setAccessibleName("Agent")
        self.agents.setToolTip("Whose steps, episodes and arrows are shown")
        self.agents.activated.connect(lambda _: model.choose_agent(self.agents.currentData()))
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setRange(0, 1000)
        self._progress.setAccessibleName("Progress")
        self._progress.setFixedHeight(max(4, line // 3))
        head = QHBoxLayout()
        head.setSpacing(line // 2)
        head.addWidget(self._title, 1)
        head.addWidget(self._where)
        head.addWidget(self.agents)
        head.addWidget(self._state)
        figures = QWidget()
        row = FlowLayout(figures, gap=line)
        self._values = [self._add_figure(row, *figure) for figure in _FIGURES]
        self._note = QLabel()
        self._note.setProperty("role", "muted")
        self._note.hide()
        row.addWidget(self._note)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, line * 2 // 3, line, line // 2)
        layout.setSpacing(line // 2)
        layout.addLayout(head)
        layout.addWidget(self._progress)
        layout.addWidget(figures)
        model.changed.connect(self._update)
        self._update()

    def note(self, text: str) -> None:
        """Something to know about what is shown below."""
        _set(self._note, text)
        self._note.setVisible(bool(text))

    def _add_figure(self, row: FlowLayout, name: str, tip: str) -> QLabel:
        caption = QLabel(name)
        caption.setProperty("role", "caption")
        value = SteadyLabel("0" * 8)
        value.setAccessibleName(name)
        figure = QWidget()
        column = QVBoxLayout(figure)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for label in (caption, value):
            label.setToolTip(tip)
            column.addWidget(label)
        row.addWidget(figure)
        return value

    def _show_agents(self) -> None:
        """Where several learn side by side, it is said who is shown."""
        agents, chosen = list(self._model.agents.names), self._model.agents.chosen
        self.agents.setVisible(len(agents) > 1)
        if [self.agents.itemData(at) for at in range(self.agents.count())] != agents:
            self.agents.clear()
            for agent in agents:
                self.agents.addItem(agent, agent)
        if chosen in agents:
            self.agents.setCurrentIndex(agents.index(chosen))

    def _update(self) -> None:
        run = self._model.run
        if run is None:
            return
        self._show_agents()
        look = run_text.STATE_STYLES[run.state] if self._model.is_known_now else _NOT_KNOWN
        title = f"{run_text.title_of(run)}  {run_text.short_id(run.run_id)}"
        _set(self._title, title)
        self._title.setToolTip(run.run_id)
        where = run_text.environment_text(run.env_id, self._model.env_kwargs)
        _set(self._where, f"{run_text.worker_label(run.worker)} · {where}")
        if self._state.text() != f"{look.symbol} {look.word}":
            self._state.show_text(f"{look.symbol} {look.word}", look.tone)
        share = run_text.progress_of(run)
        self._progress.setVisible(share is not None)
        self._progress.setValue(round(1000 * (share or 0.0)))
        self._progress.setToolTip(_progress_words(share, run_text.time_left_of(run)))
        episode, step = self._model.newest_episode, self._model.step
        is_live = run.state in LIVE_STATES and self._model.is_known_now
        values = (
            run_text.integer(episode.episode) if episode else "",
            run_text.integer(step.step) if step else "",
            run_text.number(episode.total_return) if episode else "",
            run_text.number(run.digest.mean_return),
            run_text.integer(run.digest.steps_done) if run.digest.steps_done else "",
            run_text.rate(run_text.speed_of(run)) if is_live else "",
        )
        for label, value in zip(self._values, values, strict=True):
            _set(label, value or "—")


def _set(label: QLabel, text: str) -> None:
    """A text that stays costs nothing."""
    if label.text() != text:
        label.setText(text)


def _progress_words(share: float | None, eta_s: float | None) -> str:
    left = f", {run_text.duration(eta_s)} left" if eta_s is not None else ""
    return "" if share is None else f"{share:.0%} done{left}"
