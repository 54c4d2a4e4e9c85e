"""LiveTab: what a running run does now; or, of a run that tells nothing, what can be done."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gym_gui.live.model.live_model import LiveModel
from gym_gui.live.view.episodes_view import EpisodesView
from gym_gui.live.view.live_figures import LiveFigures
from gym_gui.live.view.live_picture import LivePicture
from gym_gui.live.view.steps_view import StepsView
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.flow_layout import FlowLayout

Actions = list[tuple[str, Callable[[], None]]]


class LiveTab(QWidget):
    """One of the tabs of the centre."""

    episode_chosen = Signal(str, int)
    """Run and number of an episode that was activated: to be replayed."""
    step_chosen = Signal(str, int, int)

    def __init__(self, model: LiveModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._banner_key: object = None
        self.banner = Banner(theme)
        self._picture = LivePicture(model, theme)
        self._no_picture = EmptyState("frame", "Waiting for the first step", "", theme)
        self._view = QStackedWidget()
        self._view.addWidget(self._picture)
        self._view.addWidget(self._no_picture)
        self.steps = StepsView(model.steps, theme)
        self.episodes = EpisodesView(model.episodes, theme)
        self._empty = EmptyState("live", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._body(model, theme))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self._subscribe()
        self._update()

    def _body(self, model: LiveModel, theme: ThemeModel) -> QWidget:
        line = self.fontMetrics().height()
        self._tables = QSplitter(Qt.Orientation.Horizontal)
        self._tables.addWidget(self.steps)
        self._tables.addWidget(self.episodes)
        self._tables.setChildrenCollapsible(False)
        self._parts = QSplitter(Qt.Orientation.Vertical)
        self._parts.addWidget(self._view)
        self._parts.addWidget(self._tables)
        self._parts.setStretchFactor(0, 3)
        self._parts.setStretchFactor(1, 2)
        self._parts.setChildrenCollapsible(False)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._figures = LiveFigures(model, theme)
        layout.addWidget(self._figures)
        self._notes = QWidget()
        notes = QVBoxLayout(self._notes)
        notes.setContentsMargins(line, 0, line, line // 2)
        notes.setSpacing(line // 2)
        notes.addWidget(self.banner)
        ways = QWidget()
        self._ways = FlowLayout(ways, gap=line // 2)
        notes.addWidget(ways)
        layout.addWidget(self._notes)
        layout.addWidget(self._parts, 1)
        return body

    def _subscribe(self) -> None:
        model = self._model
        model.changed.connect(self._update)
        model.frame_changed.connect(self._update_picture)
        self.episodes.episode_chosen.connect(self.episode_chosen)
        self.episodes.episode_selected.connect(lambda _, episode: model.pin_episode(episode))
        self.steps.step_chosen.connect(self.step_chosen)
        self.steps.bar.follow.toggled.connect(self._on_follow_toggled)

    def _on_follow_toggled(self, follows: bool) -> None:
        """To follow means the newest episode too."""
        if follows and self._model.pinned_episode is not None:
            self.episodes.grid.clearSelection()
            self._model.pin_episode(None)

    def _update(self) -> None:
        model = self._model
        if not model.run_id:
            self._empty.say(
                "No run is selected", "Choose a run in the list below to watch what it does."
            )
        elif model.run is None:
            self._empty.say("Looking for the run", "It appears here when the daemon answers.")
        self._stack.setCurrentIndex(0 if model.run is None else 1)
        if model.run is not None:
            self._update_banner()
            self._update_picture()

    def _update_banner(self) -> None:
        model, run = self._model, self._model.run
        if run is None:
            return
        key = (
            *(model.run_id, model.is_silent, run.state.is_final, model.has_episodes),
            *(model.has_tensorboard, model.has_wandb, model.can_start_again, model.can_replay),
        )
        if key == self._banner_key:  # buttons that are made anew lose the focus
            return
        self._banner_key = key
        if model.is_silent:
            self.banner.say(model.silence, "plain", self._way_out())
        elif run.state.is_final:
            replay: Actions = [("Replay", model.replay)] if model.can_replay else []
            look = run_text.STATE_STYLES[run.state]
            tone: Tone = "bad" if look.tone == "bad" else "plain"
            message = f"This run is over: {run_text.end_text(run)}"
            self.banner.say(message, tone, [*replay, ("Show log", model.show_log)])
        else:
            self.banner.clear()
        self._update_ways()
        self._notes.setVisible(self.banner.message != "")
        self._tables.setVisible(not model.is_silent or model.has_episodes)
        self.steps.setVisible(not model.is_silent)

    def _way_out(self) -> Actions:
        model = self._model
        if model.can_start_again:
            return [("Start again with live telemetry", model.start_again)]
        return []

    def _update_ways(self) -> None:
        """What works for a run that tells nothing of its steps."""
        model = self._model
        self._ways.clear()
        if not model.is_silent:
            return
        ways: Actions = [("TensorBoard", model.open_tensorboard)]
        ways = ways if model.has_tensorboard else []
        if model.has_wandb:
            ways.append(("Open W&&B", model.open_wandb))
        ways.append(("Show log", model.show_log))
        for text, run in ways:
            button = QPushButton(text)
            button.clicked.connect(lambda _=False, run=run: run())
            self._ways.addWidget(button)
        if model.can_start_again:
            self._ways.addWidget(self._switch())

    def _switch(self) -> QCheckBox:
        switch = QCheckBox("Minimal telemetry for the next run of this worker")
        switch.setToolTip(
            "Every tenth episode step by step, the others in brief, and pictures."
            " Training hardly notices it."
        )
        switch.setChecked(self._model.tells_next_time)
        switch.toggled.connect(self._model.tell_next_time)
        return switch

    def _update_picture(self) -> None:
        model = self._model
        if self._picture.has_something:
            self._view.setCurrentWidget(self._picture)
        else:
            self._no_picture.say(*model.waiting_words)
            self._view.setCurrentWidget(self._no_picture)
        # A run that sends no pictures leaves the room to its tables.
        is_blind = model.step is not None and not self._picture.has_something
        is_hidden = is_blind or (model.is_silent and model.has_episodes)
        self._view.setVisible(not is_hidden)
        self._figures.note("This run sends no pictures" if is_blind else "")
