"""SessionFacts: what can be said of a session from its state alone. The base of `PlayModel`."""

from PySide6.QtCore import QObject

from gym_gui.play.model.session_text import actor_words, phase_words
from gym_gui.runtime.session_service import HUMAN, Frame, SessionPhase, SessionService, SessionState
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.scenes.factory import has_scene

_NO_PICTURES = "W140"  # the worker's word for an environment that draws nothing


class SessionFacts(QObject):
    """Read-only, and computed on every look."""

    def __init__(self, sessions: SessionService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entry: EnvironmentEntry | None = None
        """Of the environment that is played, with the keys for its action space."""
        self.actor_labels: dict[str, str] = {}
        """What agents are called in lists, by id."""
        self.draws_nothing = False
        """The worker said that this environment has no pictures."""
        self._sessions = sessions

    @property
    def state(self) -> SessionState:
        return self._sessions.state

    @property
    def frame(self) -> Frame | None:
        return self._sessions.newest_frame

    @property
    def title(self) -> str:
        return self.entry.title if self.entry else self.state.env_id

    @property
    def is_on(self) -> bool:
        """Something is played or watched now."""
        return self.state.phase.is_active or self._sessions.is_waiting_for_daemon

    @property
    def is_playing(self) -> bool:
        """There is an environment to act in, and it obeys."""
        phase = self.state.phase
        return self.state.can_control and phase in (SessionPhase.RUNNING, SessionPhase.PAUSED)

    @property
    def is_paused(self) -> bool:
        return self.state.phase is SessionPhase.PAUSED

    @property
    def is_empty(self) -> bool:
        """Nothing was ever played here."""
        return self.state.phase is SessionPhase.IDLE and not self._sessions.is_waiting_for_daemon

    @property
    def has_agent(self) -> bool:
        """Somebody other than the person can act."""
        return bool(self.state.actor) and self.state.actor != HUMAN

    @property
    def person_acts(self) -> bool:
        return self.is_playing and (not self.has_agent or self.state.is_taken_over)

    @property
    def is_timed(self) -> bool:
        """A person acts, and the environment does not wait for them."""
        return self.person_acts and self.entry is not None and not self.entry.turn_based

    @property
    def can_single_step(self) -> bool:
        """Where a person takes turns each key is one step, and there is no other."""
        takes_turns = self.entry is not None and self.entry.turn_based
        return self.is_playing and not (self.person_acts and takes_turns)

    @property
    def actor_label(self) -> str:
        """Of the agent that was chosen, whoever acts at the moment."""
        actor = self.state.actor
        return self.actor_labels.get(actor) or actor_words(actor)

    @property
    def phase_words(self) -> str:
        sessions = self._sessions
        if sessions.is_without_daemon:
            return "There is no daemon. The session begins as soon as one answers."
        return phase_words(self.state, self.title, waits_for_daemon=sessions.is_waiting_for_daemon)

    @property
    def problem(self) -> str:
        """What went wrong, and what to do next; empty when all is well."""
        state = self.state
        if not state.is_connected:
            return "The daemon does not answer. It is tried again; nothing of the session is lost."
        if state.error is not None:
            return str(state.error)
        log = state.last_log
        if self.is_paused and log is not None and log.level == "error":
            return log.message
        return ""

    @property
    def has_scene(self) -> bool:
        return self.entry is None or has_scene(self.state.env_id)

    @property
    def no_scene_reason(self) -> str:
        return "" if self.has_scene else f"{self.title} is no grid. Its pictures are under Frame."

    @property
    def has_frames(self) -> bool:
        return self.frame is not None or not self.draws_nothing

    @property
    def no_frames_reason(self) -> str:
        return "" if self.has_frames else f"{self.title} draws no pictures."

    @property
    def preferred_view(self) -> str:
        """`grid` or `frame`: what the environment is best looked at with."""
        return "grid" if self.entry is not None and self.has_scene else "frame"

    def _note_pictures(self) -> None:
        log = self.state.last_log
        if log is not None and log.code == _NO_PICTURES:
            self.draws_nothing = True
