"""SessionInfo: properties derived from the state of a session. The base of `PlayModel`."""

from PySide6.QtCore import QObject

from gym_gui.play.model.session_text import actor_text, phase_text
from gym_gui.runtime.session_service import HUMAN, Frame, SessionPhase, SessionService, SessionState
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.scenes.factory import has_scene

_NO_FRAMES_CODE = "W140"  # log code of a worker whose environment renders no frames


class SessionInfo(QObject):
    """Read-only; computed on every access."""

    def __init__(self, sessions: SessionService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entry: EnvironmentEntry | None = None
        """The environment of the session, with the keys of its action space."""
        self.actor_labels: dict[str, str] = {}
        """Display names of agents, by id."""
        self.has_no_frames = False
        """The worker reported that the environment renders no frames."""
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
        """Whether a session or run is active."""
        return self.state.phase.is_active or self._sessions.is_waiting_for_daemon

    @property
    def is_playing(self) -> bool:
        """Whether the session is running or paused and can be controlled."""
        phase = self.state.phase
        return self.state.can_control and phase in (SessionPhase.RUNNING, SessionPhase.PAUSED)

    @property
    def is_paused(self) -> bool:
        return self.state.phase is SessionPhase.PAUSED

    @property
    def is_empty(self) -> bool:
        """Whether no session was started yet."""
        return self.state.phase is SessionPhase.IDLE and not self._sessions.is_waiting_for_daemon

    @property
    def has_agent(self) -> bool:
        """Whether an actor other than the user is selected."""
        return bool(self.state.actor) and self.state.actor != HUMAN

    @property
    def person_acts(self) -> bool:
        return self.is_playing and (not self.has_agent or self.state.is_taken_over)

    @property
    def is_timed(self) -> bool:
        """Whether the user acts in a real-time environment."""
        return self.person_acts and self.entry is not None and not self.entry.turn_based

    @property
    def can_single_step(self) -> bool:
        """Whether single steps make sense. In turn-based play each key is a step."""
        is_turn_based = self.entry is not None and self.entry.turn_based
        return self.is_playing and not (self.person_acts and is_turn_based)

    @property
    def actor_label(self) -> str:
        """Display name of the selected agent, also while the user acts."""
        actor = self.state.actor
        return self.actor_labels.get(actor) or actor_text(actor)

    @property
    def phase_text(self) -> str:
        sessions = self._sessions
        if sessions.is_without_daemon:
            return "The daemon is not running. The session starts when it answers."
        return phase_text(self.state, self.title, waits_for_daemon=sessions.is_waiting_for_daemon)

    @property
    def problem(self) -> str:
        """The current error and its remedy; empty without an error."""
        state = self.state
        if not state.is_connected:
            return "The daemon does not answer. Reconnecting; the session is not lost."
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
        return "" if self.has_scene else f"{self.title} has no grid view; see Frame."

    @property
    def has_frames(self) -> bool:
        return self.frame is not None or not self.has_no_frames

    @property
    def no_frames_reason(self) -> str:
        return "" if self.has_frames else f"{self.title} renders no frames."

    @property
    def preferred_view(self) -> str:
        """`grid` or `frame`: the default view of the environment."""
        return "grid" if self.entry is not None and self.has_scene else "frame"

    def _update_frame_support(self) -> None:
        log = self.state.last_log
        if log is not None and log.code == _NO_FRAMES_CODE:
            self.has_no_frames = True
