"""SessionState: what a session is at a moment, as a snapshot that never changes.

Made by `session.Session` on the session's own thread, read by anybody.
"""

from dataclasses import dataclass
from enum import StrEnum

from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, Log, PolicyEvent, StepRecord
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord


class SessionPhase(StrEnum):
    """Where a session is in its life."""

    IDLE = "idle"
    """Nothing was started or attached to yet."""
    STARTING = "starting"
    """The run waits for its turn, for its packages, or for its worker."""
    RUNNING = "running"
    PAUSED = "paused"
    ENDING = "ending"
    OVER = "over"

    @property
    def is_going(self) -> bool:
        return self not in (SessionPhase.IDLE, SessionPhase.OVER)


@dataclass(frozen=True, slots=True)
class SessionProblem:
    """What went wrong, and what to do next."""

    message: str
    remedy: str = ""
    code: str = ""

    @classmethod
    def of(cls, error: UserError) -> "SessionProblem":
        return cls(error.message, error.remedy, error.code)

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


@dataclass(frozen=True, slots=True)
class EpisodeNow:
    """The episode that is being played, as far as the newest lines tell."""

    episode_id: str
    ordinal: int | None = None
    seed: int | None = None
    steps: int = 0
    total_return: float | None = None
    """Known when it is over."""
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything a view or a program needs to know about a session."""

    phase: SessionPhase = SessionPhase.IDLE
    run_id: str = ""
    run: RunRecord | None = None
    """The run as the daemon last told; its digest says how an installation goes, and its reason
    how it ended."""
    env_id: str = ""
    actor: str = ""
    """The id of the actor that was chosen, whoever acts at the moment."""
    acting: str = ""
    """Who took the newest step: `human`, or the name that the actor has in its worker."""
    is_taken_over: bool = False
    """A person has taken over from the actor, and has not released."""
    switching_to: str = ""
    """The actor that is to act next; until it does, `actor` is the one that acts."""
    can_control: bool = False
    """False for a run that is only watched, such as a training."""
    is_connected: bool = True
    """Whether the daemon answered the last time."""
    error: SessionProblem | None = None
    """Why the last thing asked for did not happen, or why the run ended."""
    step: StepRecord | None = None
    """The newest that was stored; frames carry a newer one in `step_json`."""
    episode: EpisodeNow | None = None
    episodes_finished: int = 0
    environment: EnvironmentEvent | None = None
    """How the environment was made: its arguments and its spaces."""
    policy: PolicyEvent | None = None
    """What the actor would do in each state, as it last told; None when it does not tell."""
    last_log: Log | None = None
    """The newest line of the worker for people."""
    dropped_actions: int = 0
    """Actions that never reached the worker, because it was behind or could not be reached."""


def phase_of(run: RunRecord, has_spoken: bool, says_paused: bool) -> SessionPhase:
    """From what the daemon knows of the run and what its worker says of itself."""
    if run.state in (RunState.QUEUED, RunState.PREPARING):
        return SessionPhase.STARTING
    if run.state.is_final:
        return SessionPhase.OVER
    if run.state is RunState.STOPPING:
        return SessionPhase.ENDING
    if run.state is RunState.PAUSED or says_paused:
        return SessionPhase.PAUSED
    return SessionPhase.RUNNING if has_spoken else SessionPhase.STARTING
