"""SessionState: an immutable snapshot of a session; EpisodeTracker: its current episode.

States are created by `SessionEngine` on the session thread and read on any thread. Steps arrive by
one stream, all other lines by another. Either stream may lag behind the other: the last steps of an
episode may arrive after the start line of the next one. The tracker never returns to an episode
that was followed by another one.
"""

from collections import deque
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from mosaic.client.former_names import FormerName, resolve_former_names
from mosaic.contract.errors import UserError
from mosaic.contract.events import (
    EnvironmentEvent,
    EpisodeEnd,
    EpisodeStart,
    Log,
    PolicyEvent,
    StepRecord,
)
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_MAX_PAST_EPISODES = 1000

EpisodeLine = EpisodeStart | StepRecord | EpisodeEnd


@dataclass(frozen=True, slots=True)
class CurrentEpisode:
    """The current episode, as far as the newest events describe it."""

    episode_id: str
    ordinal: int | None = None
    """Counts from 0, as in the protocol."""
    seed: int | None = None
    steps: int = 0
    total_return: float | None = None
    """None until the episode has ended, if steps were skipped."""
    terminated: bool = False
    truncated: bool = False
    is_finished: bool = False
    """The line that ends the episode has arrived."""
    is_over = FormerName("is_finished")


class PastEpisodes:
    """The ids of the last episodes that were followed by another one."""

    def __init__(self) -> None:
        self._ids: deque[str] = deque(maxlen=_MAX_PAST_EPISODES)

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._ids

    def add(self, episode_id: str) -> None:
        self._ids.append(episode_id)


class EpisodeTracker:
    """Tracks the episodes of one run; call `add` with every line in order of arrival."""

    def __init__(self) -> None:
        self.current: CurrentEpisode | None = None
        self.finished = 0
        """Number of finished episodes."""
        self.best_return: float | None = None
        self._past = PastEpisodes()

    def add(self, line: EpisodeLine) -> None:
        if isinstance(line, EpisodeEnd):
            self.finished += 1
            is_best = self.best_return is None or line.total_return > self.best_return
            self.best_return = line.total_return if is_best else self.best_return
        episode = self._select(line.episode_id)
        if episode is None:
            return
        if isinstance(line, EpisodeStart):
            self.current = replace(episode, ordinal=line.episode, seed=line.seed)
        elif isinstance(line, StepRecord):
            self.current = _add_step(episode, line)
        else:
            self.current = _add_end(episode, line)

    def _select(self, episode_id: str) -> CurrentEpisode | None:
        """Return the episode with that id as far as it is known; None if it is past."""
        if self.current is not None and self.current.episode_id == episode_id:
            return self.current
        if episode_id in self._past:
            return None
        if self.current is not None:
            self._past.add(self.current.episode_id)
        return CurrentEpisode(episode_id)


def _add_step(episode: CurrentEpisode, step: StepRecord) -> CurrentEpisode:
    if episode.is_finished or step.step < episode.steps:
        return episode
    is_next = step.step == episode.steps and (
        episode.steps == 0 or episode.total_return is not None
    )
    return replace(
        episode,
        steps=step.step + 1,
        total_return=(episode.total_return or 0.0) + step.reward if is_next else None,
        terminated=step.terminated,
        truncated=step.truncated,
    )


def _add_end(episode: CurrentEpisode, end: EpisodeEnd) -> CurrentEpisode:
    return replace(
        episode,
        ordinal=episode.ordinal if end.episode is None else end.episode,
        seed=episode.seed if end.seed is None else end.seed,
        steps=end.steps,
        total_return=end.total_return,
        terminated=episode.terminated if end.terminated is None else end.terminated,
        truncated=episode.truncated if end.truncated is None else end.truncated,
        is_finished=True,
    )


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
