"""SessionPanelModel: what is to be played and by whom, and the one place that starts sessions.

The left dock shows it, the command table calls it, the status bar echoes `actor_changed`.
"""

from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.actors import HUMAN, ActorDescriptor, ActorRoster
from gym_gui.runtime.models.actors_model import ActorsModel, Mode, reason_of
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.session_service import (
    SessionPhase,
    SessionProblem,
    SessionRequest,
    SessionService,
    SessionState,
)
from gym_gui.runtime.settings_store import TextSettings
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.session.feed.environment_pictures import EnvironmentPictures
from gym_gui.session.model.environment_choice import EnvironmentChoice
from gym_gui.session.model.environments_model import EnvironmentsModel
from gym_gui.session.model.session_activity import (
    ASKED_FOR,
    NO_DAEMON,
    WAITS_FOR_DAEMON,
    SessionActivity,
    activity_of,
)
from mosaic.contract.errors import UserError

_NO_DAEMON = SessionProblem(
    "There is no daemon: see above.", "The session begins as soon as one answers."
)
MODES: tuple[Mode, ...] = ("human", "hybrid", "agent")
Part = Literal["new", "trained"]
"""Of the dock, in the modes in which an agent acts: train one, or use one that was trained."""
_PART_KEY = "session/part"


class SessionPanelModel(QObject):
    """Made once, by the wiring. Everything chosen here is remembered."""

    changed = Signal()
    """`mode`, the actor, `activity` or `problem` is new."""
    mode_changed = Signal(str)
    environment_changed = Signal(str)
    part_changed = Signal(str)
    actor_changed = Signal(str)
    """The label of whoever is to act now."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        notices: Notices,
        memory: TextSettings,
        sessions: SessionService,
        pictures: EnvironmentPictures,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._memory = memory
        self._notices = notices
        self._sessions = sessions
        self._chosen_actor = ""
        self._announced_actor = ("", "")
        self._dismissed: SessionProblem | None = None
        self._shown_problem: SessionProblem | None = None
        self._begun_again = ""
        self._begun_run = ""
        self._played_by = ("", "")
        self._was_taken_over = False
        self._state_when_asked: SessionState | None = None
        """While nothing has come of the last Play."""
        self.choice = EnvironmentChoice(memory, self)
        self.environments = EnvironmentsModel(link, tasks, pictures, self)
        self.environments.set_recent(self.choice.recent)
        self.actors = ActorsModel(ActorRoster(link, tasks), self)
        self.mode: Mode = _mode_in(memory.text("session/mode"))
        self.actors.set_mode(self.mode)
        self.part: Part = _part_in(memory.text(_PART_KEY))
        self._agent_id = ""
        self._awaited_actor = ""
        self.activity = SessionActivity()
        self._recall_actor()
        self.actors.loaded.connect(self._on_actors_loaded)
        self.choice.environment_changed.connect(self._on_environment_changed)
        self.choice.values_changed.connect(self._on_values_changed)
        self.choice.speed_changed.connect(self._on_speed_changed)
        self.choice.seed_changed.connect(self._on_seed_changed)
        sessions.changed.connect(self._on_session_changed)
        link.connected.connect(self.refresh_actors)
        link.recovered.connect(self.refresh_actors)
        self.refresh_actors()

    # Who acts.

    @property
    def actor_id(self) -> str:
        """Who acts when Play is pressed; empty when no agent is there."""
        return HUMAN if self.mode == "human" else self._chosen_actor

    @property
    def actor(self) -> ActorDescriptor | None:
        """None until the daemon has said who there is."""
        return self.actors.find(self.actor_id)

    @property
    def needs(self) -> str:
        """What Play installs first, in words; empty when nothing is missing or known."""
        actor = self.actor
        if actor is None:
            return self.environments.needs(self.choice.env_id) if self.mode == "human" else ""
        return self.environments.needs(self.choice.env_id, actor.worker)

    def set_mode(self, mode: str) -> None:
        if mode == self.mode or mode not in MODES:
            return
        self.mode = _mode_in(mode)
        self._memory.keep("session/mode", mode)
        self.actors.set_mode(self.mode)
        self._settle_actor()
        self.mode_changed.emit(mode)
        self.changed.emit()
        self._tell_running_session_who_acts()

    def show_part(self, part: str) -> None:
        """*Train new* or *Use trained*; remembered for the agent."""
        self._memory.keep(_PART_KEY, part)
        if self._agent_id:
            self._memory.keep(f"{_PART_KEY}/{self._agent_id}", part)
        if part != self.part:
            self.part = _part_in(part)
            self.part_changed.emit(part)
            self.changed.emit()

    def note_agent(self, agent_id: str, *, is_chosen: bool) -> None:
        """Which agent the dock is about. One that a person chose has the part that it had."""
        self._agent_id = agent_id
        kept = self._memory.text(f"{_PART_KEY}/{agent_id}") if is_chosen else ""
        if kept:
            self.show_part(kept)

    def choose_actor(self, actor_id: str) -> None:
        """Remembered for the environment; in a session that is going on it takes over at once."""
        actor = self.actors.find(actor_id)
        if actor is None or actor_id == self._chosen_actor:
            return
        if not actor.is_available:
            self._notices.say(reason_of(actor), tone="warning")
            return
        self._chosen_actor = actor_id
        self._memory.keep(f"session/actor/{self.choice.env_id}", actor_id)
        self._announce_actor()
        self.changed.emit()
        self._tell_running_session_who_acts()

    def play_with(self, actor_id: str) -> None:
        """Choose it and play, as soon as the daemon has said that it can act here."""
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
            self._notices.say(f"{awaited} cannot act in {self.choice.env_id}.", tone="warning")
        else:
            self.play_with(awaited)

    def refresh_actors(self) -> None:
        """Policies may have been saved and workers installed since."""
        self.actors.look_at(self.choice.env_id)
        self.environments.look_at_bundles()

    # The session.

    @property
    def plays_chosen_environment(self) -> bool:
        """Whether the session that is going on is in the environment that is chosen."""
        is_asked_for = self.activity in (ASKED_FOR, WAITS_FOR_DAEMON, NO_DAEMON)
        is_chosen = is_asked_for or self._sessions.state.env_id == self.choice.env_id
        return self.activity.is_going and is_chosen

    @property
    def problem(self) -> SessionProblem | None:
        """Why the last thing asked for did not happen, until it is dismissed."""
        sessions = self._sessions
        problem = _NO_DAEMON if sessions.is_without_daemon else sessions.state.error
        return None if problem is None or problem == self._dismissed else problem

    @property
    def can_retry(self) -> bool:
        sessions = self._sessions
        return not (sessions.state.phase.is_active or sessions.is_waiting_for_daemon)

    def play(self) -> None:
        """Start a session as it was chosen; one that is going on ends once the new one began."""
        try:
            request = self._request()
        except UserError as error:
            self._notices.fail(error)
            return
        self.choice.note_played()
        self.environments.set_recent(self.choice.recent)
        self._dismissed = None
        self._state_when_asked = self._sessions.state
        self._sessions.start(request)
        self._on_session_changed()

    def stop(self) -> None:
        if self._sessions.is_waiting_for_daemon:
            self._state_when_asked = None  # It is called off before anybody has heard of it.
        self._sessions.stop()
        self._on_session_changed()

    def reset(self) -> None:
        """A new episode: with the same seed when that is locked."""
        self._sessions.reset(self.choice.seed if self.choice.is_seed_locked else None)

    def dismiss_problem(self) -> None:
        self._dismissed = self.problem
        self.changed.emit()

    def _request(self) -> SessionRequest:
        actor = self.actor
        if not self.actor_id:
            raise UserError(
                "No agent is chosen.",
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
            seed=self.choice.seed_to_begin_with(),
            params=self._params(),
        )

    def _params(self) -> dict[str, Any]:
        speed = {} if self.choice.speed == 1.0 else {"speed": self.choice.speed}
        return {"auto_reset": self._agents_go_on, **speed}

    @property
    def _agents_go_on(self) -> bool:
        """A person looks at how an episode ended; and chance would undo a seed that is locked."""
        return self.mode != "human" and not self.choice.is_seed_locked

    @property
    def _goes_on_by_itself(self) -> bool:
        """Of the session that is going on, where a person may have taken over."""
        return self._agents_go_on and not self._sessions.state.is_taken_over

    # What happens.

    def _on_session_changed(self) -> None:
        before = (self.activity, self._shown_problem)
        self.activity = self._activity()
        self._note_installed()
        self._begin_for_agent()
        self._keep_ends_visible()
        self._begin_again_alike()
        self._shown_problem = self.problem
        if (self.activity, self._shown_problem) != before:
            self.changed.emit()

    def _activity(self) -> SessionActivity:
        state = self._sessions.state
        if self._sessions.is_waiting_for_daemon:
            return NO_DAEMON if self._sessions.is_without_daemon else WAITS_FOR_DAEMON
        if state is self._state_when_asked:
            return ASKED_FOR
        self._state_when_asked = None
        following = self.actors.find(state.switching_to)
        return activity_of(state, following.label if following else "another actor")

    def _note_installed(self) -> None:
        """A session that has begun has its packages."""
        run_id = self._sessions.state.run_id
        if self.activity.can_reset and run_id != self._begun_run:
            self._begun_run = run_id
            self.environments.look_at_bundles()

    def _begin_for_agent(self) -> None:
        """What stood still until a person's first key does not wait for an agent's."""
        state = self._sessions.state
        before, self._played_by = self._played_by, (state.run_id, state.actor)
        is_handed_over = before == (state.run_id, HUMAN) and state.actor != HUMAN
        if is_handed_over and state.phase is SessionPhase.PAUSED and state.step is None:
            self._sessions.resume()

    def _keep_ends_visible(self) -> None:
        """Of a person who took over: until they go on. An agent goes on by itself."""
        state = self._sessions.state
        if state.is_taken_over != self._was_taken_over and self.activity.can_reset:
            self._was_taken_over = state.is_taken_over
            self._sessions.configure(auto_reset=self._goes_on_by_itself)

    def _begin_again_alike(self) -> None:
        """With a locked seed, episodes of an agent follow each other from here."""
        state = self._sessions.state
        episode = state.episode
        if episode is None or not episode.is_over or episode.episode_id == self._begun_again:
            return
        is_agents = self.mode != "human" and self.choice.is_seed_locked and not state.is_taken_over
        if is_agents and state.can_control and state.phase is SessionPhase.RUNNING:
            self._begun_again = episode.episode_id
            self._sessions.reset(self.choice.seed)

    def _on_environment_changed(self, env_id: str) -> None:
        self._recall_actor()
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
            self._sessions.configure(auto_reset=self._goes_on_by_itself)

    def _on_actors_loaded(self) -> None:
        self._settle_actor()
        self._on_awaited_actor()
        self.changed.emit()

    @property
    def _is_in_control(self) -> bool:
        return self.activity.can_reset and self.plays_chosen_environment

    def _tell_running_session_who_acts(self) -> None:
        state = self._sessions.state
        if not self._is_in_control or not self.actor_id:
            return
        is_to_release = self.mode == "agent" and state.is_taken_over
        if self.actor_id != (state.switching_to or state.actor) or is_to_release:
            self._sessions.switch_actor(self.actor_id)
        self._sessions.configure(auto_reset=self._goes_on_by_itself)

    def _recall_actor(self) -> None:
        """The one before stays until the daemon has said who can act in the environment."""
        kept = self._memory.text(f"session/actor/{self.choice.env_id}")
        self._chosen_actor = kept or self._chosen_actor

    def _settle_actor(self) -> None:
        """The one that was remembered, if it can act, else the best there is."""
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


def _mode_in(text: str) -> Mode:
    return next((mode for mode in MODES if mode == text), "human")


def _part_in(text: str) -> Part:
    return "new" if text == "new" else "trained"
