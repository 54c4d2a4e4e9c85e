"""SessionPanelModel: environment, actor and mode of the next session; starts sessions.

Shown by the left dock, called by the command table; the status bar shows `actor_changed`.
"""

from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.actors_model import ActorsModel, Mode, reason_of
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.session_service import (
    HUMAN,
    ActorDescriptor,
    SessionPhase,
    SessionProblem,
    SessionRequest,
    SessionService,
    SessionState,
)
from gym_gui.session.feed.thumbnail_cache import ThumbnailCache
from gym_gui.session.model.environment_choice import EnvironmentChoice
from gym_gui.session.model.environments_model import EnvironmentsModel
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState

_NO_DAEMON = SessionProblem(
    "No daemon is running.", "Start one; the session then starts automatically."
)
MODES: tuple[Mode, ...] = ("human", "hybrid", "agent")
DockTab = Literal["new", "trained"]
"""Tab of the dock in Hybrid and Agent mode: train an agent, or use a trained one."""
_TAB_KEY = "session/part"


@dataclass(frozen=True, slots=True)
class SessionActivity:
    """What a session is doing, for buttons and a progress bar. Derived from `SessionState`."""

    text: str = ""
    """What the session waits for; empty: nothing."""
    done: int = 0
    total: int = 0
    """0: the progress is unknown."""
    is_running: bool = False
    can_stop: bool = False
    can_reset: bool = False

    @property
    def is_waiting(self) -> bool:
        return bool(self.text)


WAITING_FOR_DAEMON = SessionActivity(
    "Waiting for the trainer daemon", is_running=True, can_stop=True
)
NO_DAEMON = SessionActivity(is_running=True, can_stop=True)
"""The user must start a daemon; the panel reports this as a problem."""
REQUESTED = SessionActivity("Requesting a session", is_running=True, can_stop=True)


def activity_of(state: SessionState, next_actor: str) -> SessionActivity:
    """Activity of a session that is controlled here; `next_actor` is the label of a switch."""
    if not state.can_control or not state.phase.is_active:
        # A watched training run is stopped in the list of runs, not here.
        return SessionActivity()
    match state.phase:
        case SessionPhase.STARTING:
            return _starting(state)
        case SessionPhase.STOPPING:
            return SessionActivity("Stopping the session", is_running=True)
    text = f"Switching to {next_actor}" if state.switching_to else ""
    return SessionActivity(text, is_running=True, can_stop=True, can_reset=True)


def _starting(state: SessionState) -> SessionActivity:
    run = state.run
    text, done, total = "Starting the environment", 0, 0
    if run is not None and run.state is RunState.QUEUED:
        text = "Queued"
    elif run is not None and run.state is RunState.PREPARING:
        text = "Preparing packages"
        if run.digest.progress_unit == "packages" and run.digest.progress_total:
            done, total = int(run.digest.progress_done or 0), int(run.digest.progress_total)
            text = f"Installing packages, {done} of {total}"
    return SessionActivity(text, done, total, is_running=True, can_stop=True)


class SessionPanelModel(QObject):
    """Created once at start-up. All selections are saved."""

    changed = Signal()
    """`mode`, the actor, `activity` or `problem` changed."""
    mode_changed = Signal(str)
    environment_changed = Signal(str)
    tab_changed = Signal(str)
    actor_changed = Signal(str)
    """The label of the selected actor."""

    def __init__(
        self,
        services: Services,
        sessions: SessionService,
        thumbnails: ThumbnailCache,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._sessions = sessions
        self._chosen_actor = ""
        self._announced_actor = ("", "")
        self._dismissed: SessionProblem | None = None
        self._displayed_problem: SessionProblem | None = None
        self._restarted_episode = ""
        self._started_run = ""
        self._played_by = ("", "")
        self._was_taken_over = False
        self._state_at_request: SessionState | None = None
        """The session state when Play was pressed, until that state changes."""
        self.choice = EnvironmentChoice(services.settings, self)
        self.environments = EnvironmentsModel(services.link, services.tasks, thumbnails, self)
        self.environments.set_recent(self.choice.recent)
        self.actors = ActorsModel(services.link, services.tasks, self)
        self.mode: Mode = _parse_mode(services.settings.text("session/mode"))
        self.actors.set_mode(self.mode)
        self.tab: DockTab = _parse_tab(services.settings.text(_TAB_KEY))
        self._agent_id = ""
        self._awaited_actor = ""
        self.activity = SessionActivity()
        self._restore_actor()
        self.actors.loaded.connect(self._on_actors_loaded)
        self.choice.environment_changed.connect(self._on_environment_changed)
        self.choice.values_changed.connect(self._on_values_changed)
        self.choice.speed_changed.connect(self._on_speed_changed)
        self.choice.seed_changed.connect(self._on_seed_changed)
        sessions.changed.connect(self._on_session_changed)
        services.link.connected.connect(self.refresh_actors)
        services.link.recovered.connect(self.refresh_actors)
        self.refresh_actors()

    # The actor.

    @property
    def actor_id(self) -> str:
        """The actor of the next session; empty: no agent is available."""
        return HUMAN if self.mode == "human" else self._chosen_actor

    @property
    def actor(self) -> ActorDescriptor | None:
        """None until the daemon has listed the actors."""
        return self.actors.find(self.actor_id)

    @property
    def needs(self) -> str:
        """What Play installs first; empty: nothing, or not known yet."""
        actor = self.actor
        if actor is None:
            return self.environments.needs(self.choice.env_id) if self.mode == "human" else ""
        return self.environments.needs(self.choice.env_id, actor.worker)

    def set_mode(self, mode: str) -> None:
        if mode == self.mode or mode not in MODES:
            return
        self.mode = _parse_mode(mode)
        self._services.settings.set("session/mode", mode)
        self.actors.set_mode(self.mode)
        self._select_valid_actor()
        self.mode_changed.emit(mode)
        self.changed.emit()
        self._update_running_session()

    def show_tab(self, tab: str) -> None:
        """*Train new* or *Use trained*; saved per agent."""
        self._services.settings.set(_TAB_KEY, tab)
        if self._agent_id:
            self._services.settings.set(f"{_TAB_KEY}/{self._agent_id}", tab)
        if tab != self.tab:
            self.tab = _parse_tab(tab)
            self.tab_changed.emit(tab)
            self.changed.emit()

    def set_agent(self, agent_id: str, *, is_chosen: bool) -> None:
        """Set the agent of the dock. If the user chose it, restore its saved tab."""
        self._agent_id = agent_id
        saved = self._services.settings.text(f"{_TAB_KEY}/{agent_id}") if is_chosen else ""
        if saved:
            self.show_tab(saved)

    def choose_actor(self, actor_id: str) -> None:
        """Saved per environment; takes effect immediately in a running session."""
        actor = self.actors.find(actor_id)
        if actor is None or actor_id == self._chosen_actor:
            return
        if not actor.is_available:
            self._services.notices.post(reason_of(actor), tone="warning")
            return
        self._chosen_actor = actor_id
        self._services.settings.set(f"session/actor/{self.choice.env_id}", actor_id)
        self._announce_actor()
        self.changed.emit()
        self._update_running_session()

    def play_with(self, actor_id: str) -> None:
        """Select the actor and play, once the daemon lists it for this environment."""
        if self.actors.find(actor_id) is None:
            self._awaited_actor = actor_id
            self.refresh_actors()
            return
        self._awaited_actor = ""
        self.choose_actor(actor_id)
        if self.actor_id == actor_id and not self._is_in_control:
            self.play()

    def _on_awaited_actor(self) -> None:
        awaited, self._awaited_actor = self._awaited_actor, ""
        if not awaited or self.actors.problem is not None:
            return
        if self.actors.find(awaited) is None:
            self._services.notices.post(
                f"{awaited} cannot act in {self.choice.env_id}.", tone="warning"
            )
        else:
            self.play_with(awaited)

    def refresh_actors(self) -> None:
        """Policies may have been saved, or workers installed."""
        self.actors.load(self.choice.env_id)
        self.environments.refresh_bundles()

    # The session.

    @property
    def plays_selected_environment(self) -> bool:
        """Whether the running session uses the selected environment."""
        is_requested = self.activity in (REQUESTED, WAITING_FOR_DAEMON, NO_DAEMON)
        is_chosen = is_requested or self._sessions.state.env_id == self.choice.env_id
        return self.activity.is_running and is_chosen

    @property
    def problem(self) -> SessionProblem | None:
        """Why the last request failed, until it is dismissed."""
        sessions = self._sessions
        problem = _NO_DAEMON if sessions.is_without_daemon else sessions.state.error
        return None if problem is None or problem == self._dismissed else problem

    @property
    def can_retry(self) -> bool:
        sessions = self._sessions
        return not (sessions.state.phase.is_active or sessions.is_waiting_for_daemon)

    def play(self) -> None:
        """Start a session; a running one is stopped once the new one has started."""
        try:
            request = self._request()
        except UserError as error:
            self._services.notices.post_error(error)
            return
        self.choice.record_played()
        self.environments.set_recent(self.choice.recent)
        self._dismissed = None
        self._state_at_request = self._sessions.state
        self._sessions.start(request)
        self._on_session_changed()

    def stop(self) -> None:
        if self._sessions.is_waiting_for_daemon:
            self._state_at_request = None  # Cancelled before the daemon received it.
        self._sessions.stop()
        self._on_session_changed()

    def reset(self) -> None:
        """Start a new episode, with the same seed if it is locked."""
        self._sessions.reset(self.choice.seed if self.choice.is_seed_locked else None)

    def dismiss_problem(self) -> None:
        self._dismissed = self.problem
        self.changed.emit()

    def _request(self) -> SessionRequest:
        actor = self.actor
        if not self.actor_id:
            raise UserError(
                "No agent is selected.",
                remedy="Choose one under Active actor, or play yourself in Human mode.",
                code="C322",
            )
        if actor is not None and not actor.is_available:
            raise UserError(
                f"{actor.label} cannot act here. {actor.problem}", remedy=actor.remedy, code="C323"
            )
        keywords = self.choice.keywords()
        return SessionRequest(
            env_id=self.choice.env_id,
            actor=self.actor_id,
            env_kwargs=keywords,
            seed=self.choice.next_seed(),
            params=self._params(),
        )

    def _params(self) -> dict[str, Any]:
        speed = {} if self.choice.speed == 1.0 else {"speed": self.choice.speed}
        return {"auto_reset": self._agent_auto_resets, **speed}

    @property
    def _agent_auto_resets(self) -> bool:
        """Not for a human actor, nor with a locked seed, which needs an explicit reset."""
        return self.mode != "human" and not self.choice.is_seed_locked

    @property
    def _auto_resets(self) -> bool:
        """Same for the running session, where the user may have taken over."""
        return self._agent_auto_resets and not self._sessions.state.is_taken_over

    # Signal handlers.

    def _on_session_changed(self) -> None:
        before = (self.activity, self._displayed_problem)
        self.activity = self._activity()
        self._refresh_bundles_after_start()
        self._resume_for_agent()
        self._update_auto_reset()
        self._restart_with_locked_seed()
        self._displayed_problem = self.problem
        if (self.activity, self._displayed_problem) != before:
            self.changed.emit()

    def _activity(self) -> SessionActivity:
        state = self._sessions.state
        if self._sessions.is_waiting_for_daemon:
            return NO_DAEMON if self._sessions.is_without_daemon else WAITING_FOR_DAEMON
        if state is self._state_at_request:
            return REQUESTED
        self._state_at_request = None
        next_actor = self.actors.find(state.switching_to)
        return activity_of(state, next_actor.label if next_actor else "another actor")

    def _refresh_bundles_after_start(self) -> None:
        """A started session has installed its packages."""
        run_id = self._sessions.state.run_id
        if self.activity.can_reset and run_id != self._started_run:
            self._started_run = run_id
            self.environments.refresh_bundles()

    def _resume_for_agent(self) -> None:
        """Resume a session that was paused for the user's first key once an agent acts."""
        state = self._sessions.state
        before, self._played_by = self._played_by, (state.run_id, state.actor)
        is_handed_over = before == (state.run_id, HUMAN) and state.actor != HUMAN
        if is_handed_over and state.phase is SessionPhase.PAUSED and state.step is None:
            self._sessions.resume()

    def _update_auto_reset(self) -> None:
        """Turn automatic resets off while the user has taken over."""
        state = self._sessions.state
        if state.is_taken_over != self._was_taken_over and self.activity.can_reset:
            self._was_taken_over = state.is_taken_over
            self._sessions.configure(auto_reset=self._auto_resets)

    def _restart_with_locked_seed(self) -> None:
        """With a locked seed, start the next episode of an agent here."""
        state = self._sessions.state
        episode = state.episode
        if episode is None or not episode.is_over or episode.episode_id == self._restarted_episode:
            return
        is_agent_episode = (
            self.mode != "human" and self.choice.is_seed_locked and not state.is_taken_over
        )
        if is_agent_episode and state.can_control and state.phase is SessionPhase.RUNNING:
            self._restarted_episode = episode.episode_id
            self._sessions.reset(self.choice.seed)

    def _on_environment_changed(self, env_id: str) -> None:
        self._restore_actor()
        self.refresh_actors()
        self.environment_changed.emit(env_id)
        self.changed.emit()

    def _on_values_changed(self) -> None:
        if self._is_in_control and not self.choice.problems:
            self._sessions.configure(env_kwargs=self.choice.keywords())
        self.changed.emit()

    def _on_speed_changed(self) -> None:
        if self._is_in_control:
            self._sessions.speed(self.choice.speed)

    def _on_seed_changed(self) -> None:
        if self._is_in_control:
            self._sessions.configure(auto_reset=self._auto_resets)

    def _on_actors_loaded(self) -> None:
        self._select_valid_actor()
        self._on_awaited_actor()
        self.changed.emit()

    @property
    def _is_in_control(self) -> bool:
        return self.activity.can_reset and self.plays_selected_environment

    def _update_running_session(self) -> None:
        state = self._sessions.state
        if not self._is_in_control or not self.actor_id:
            return
        must_release = self.mode == "agent" and state.is_taken_over
        if self.actor_id != (state.switching_to or state.actor) or must_release:
            self._sessions.switch_actor(self.actor_id)
        self._sessions.configure(auto_reset=self._auto_resets)

    def _restore_actor(self) -> None:
        """Keep the previous actor until the daemon has listed the actors."""
        saved = self._services.settings.text(f"session/actor/{self.choice.env_id}")
        self._chosen_actor = saved or self._chosen_actor

    def _select_valid_actor(self) -> None:
        """The saved actor if it is available, otherwise the default one."""
        known = self.actors.find(self._chosen_actor)
        if self.actors.actors and (known is None or not known.is_available):
            default = self.actors.default_agent()
            self._chosen_actor = default.id if default is not None else ""
        self._announce_actor()

    def _announce_actor(self) -> None:
        actor = self.actor
        if actor is not None and (actor.id, actor.label) != self._announced_actor:
            self._announced_actor = (actor.id, actor.label)
            self.actor_changed.emit(actor.label)


def _parse_mode(text: str) -> Mode:
    return next((mode for mode in MODES if mode == text), "human")


def _parse_tab(text: str) -> DockTab:
    return "new" if text == "new" else "trained"
