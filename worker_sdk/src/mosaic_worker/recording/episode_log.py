"""EpisodeLog: the steps of one environment, buffered by the thread that steps it.

Work between two steps of an environment costs several times as much as the same work in a batch.
So that thread only appends to lists, and `episode_record_builder` converts them when lines are
written. `StepDetail` decides how much of an episode is recorded.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    Captured = bytes | dict[str, str] | None
    LoggedStep = tuple[Any, ...]

NO_OBSERVATION = (None, None, None)

ALL = "all"
SAMPLED = "sampled"
COLUMNS = "columns"
OFF = "off"
DETAILS = (ALL, SAMPLED, COLUMNS, OFF)

_SAMPLE_EVERY = 10


class LoggedStart(NamedTuple):
    """The start of an episode."""

    episode: int
    is_full: bool
    seed: int | None
    captured: Captured
    options: Any
    observed: tuple[Any, Any, Any]
    """Observation, info and render hint."""


class LoggedEnd(NamedTuple):
    """The end of an episode. If `t` is None, only its steps are written, without an end."""

    logged_steps: int
    """Number of steps in the list up to the last one of the episode."""
    terminated: Any
    truncated: Any
    t: float | None
    action_dtype: str | None


class EpisodeLog:
    """Only the thread that steps the environment appends and removes; any thread may read."""

    __slots__ = ("actions", "ends", "rewards", "starts", "steps")

    def __init__(self) -> None:
        self.actions: list[Any] = []
        self.rewards: list[Any] = []
        """Columns. An action is appended before its reward."""
        self.steps: list[LoggedStep] = []
        """Full steps: action, reward, terminated, truncated, obs, info, hint[, annotations]."""
        self.starts: list[tuple[Any, ...]] = []
        """Each is a `LoggedStart`, or an equal tuple, which is faster to create."""
        self.ends: list[tuple[Any, ...]] = []
        """Likewise for `LoggedEnd`; all but the last start have one."""

    def entries(self, is_full: bool) -> list[Any]:
        """The list with one entry per step."""
        return self.steps if is_full else self.rewards


class StepDetail:
    """How much is recorded. `sampled` records every tenth episode in full, others as columns."""

    __slots__ = ("_episode_count", "has_columns", "is_full", "is_sampled", "name")

    def __init__(self, name: str) -> None:
        """Raises WorkerError for an unknown name."""
        if name not in DETAILS:
            raise WorkerError(
                f"Unknown step detail {name!r}.", remedy=f"Use one of {', '.join(DETAILS)}."
            )
        self.name = name
        self.has_columns = name != OFF
        self.is_full = name == ALL
        """Whether every step of every episode has its own line."""
        self.is_sampled = name == SAMPLED
        self._episode_count = count()

    def is_full_sample(self) -> bool:
        """Whether the episode that starts now is recorded in full."""
        return next(self._episode_count) % _SAMPLE_EVERY == 0
