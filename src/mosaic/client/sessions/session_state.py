"""SessionState: an immutable snapshot of a session.

Created by `SessionEngine` on the session thread, read on any thread.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from mosaic.client.former_names import FormerName, resolve_former_names
from mosaic.client.sessions.episode_tracker import CurrentEpisode
from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, Log, PolicyEvent, StepRecord
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord


class SessionPhase(StrEnum):
    """Phase in the life of a session."""

    IDLE = "idle"
    """No run was started or attached yet."""
    STARTING = "starting"
    """The run is queued, or waits for its bundle or its worker."""
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "ending"
    FINISHED = "over"
    # Former names; programs may also compare with the values.
    ENDING = "ending"
    OVER = "over"
    is_going = FormerName("is_active")

    @property
    def is_active(self) -> bool:
        return self not in (SessionPhase.IDLE, SessionPhase.FINISHED)


@dataclass(frozen=True, slots=True)
class SessionProblem:
    """What went wrong and what to do about it."""

    message: str
    remedy: str = ""
    code: str = ""

    @classmethod
    def from_error(cls, error: UserError) -> "SessionProblem":
        return cls(error.message, error.remedy, error.code)

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


@dataclass(frozen=True, slots=True)
class SessionState:
    """The state of a session, for views and programs."""

    phase: SessionPhase = SessionPhase.IDLE
    run_id: str = ""
    run: RunRecord | None = None
    """The newest record of the run; `digest` has the progress of an installation, `reason` why the
    run ended."""
    env_id: str = ""
    actor: str = ""
    """Id of the selected actor, also while a human has taken over."""
    acting: str = ""
    """Actor of the newest step: `human`, or the actor's name in its worker."""
    is_taken_over: bool = False
    """A human has taken over from the actor."""
    switching_to: str = ""
    """The next actor while a switch is pending; `actor` acts until then."""
    can_control: bool = False
    """False for a run that can only be watched, such as a training run."""
    is_connected: bool = True
    """Whether the daemon answered the last call."""
    error: SessionProblem | None = None
    """Why the last command failed, or why the run ended."""
    step: StepRecord | None = None
    """The newest stored step; `step_json` of a frame may be newer."""
    episode: CurrentEpisode | None = None
    episodes_finished: int = 0
    environment: EnvironmentEvent | None = None
    """Arguments and spaces of the environment."""
    policy: PolicyEvent | None = None
    """The newest policy table of the actor; None if it does not report one."""
    last_log: Log | None = None
    """The newest log message of the worker."""
    dropped_actions: int = 0
    """Number of actions that did not reach the worker: queue full, or daemon unreachable."""


def get_phase(run: RunRecord, is_ready: bool, is_worker_paused: bool) -> SessionPhase:
    """Return the phase from the state of the run and what its worker reported."""
    if run.state in (RunState.QUEUED, RunState.PREPARING):
        return SessionPhase.STARTING
    if run.state.is_final:
        return SessionPhase.FINISHED
    if run.state is RunState.STOPPING:
        return SessionPhase.STOPPING
    if run.state is RunState.PAUSED or is_worker_paused:
        return SessionPhase.PAUSED
    return SessionPhase.RUNNING if is_ready else SessionPhase.STARTING


if not TYPE_CHECKING:
    __getattr__ = resolve_former_names(__name__)
