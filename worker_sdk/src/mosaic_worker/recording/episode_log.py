"""What happened in one environment, as the thread that steps it leaves it.

Between two steps of an environment everything costs several times what it costs in a row. So that
thread only appends to lists here, and `feed` makes lines of them when lines are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    Captured = bytes | dict[str, str] | None
    Step = tuple[Any, ...]

NOTHING_SEEN = (None, None, None)


class Beginning(NamedTuple):
    """Of an episode."""

    episode: int
    in_full: bool
    seed: int | None
    captured: Captured
    options: Any
    seen: tuple[Any, Any, Any]
    """Observation, info and a hint for drawing them."""


class Ending(NamedTuple):
    """Of an episode. Where `t` is None it stays without an end, and only its steps are written."""

    after: int
    """How many steps are in the list with its last one."""
    terminated: Any
    truncated: Any
    t: float | None
    action_dtype: str | None


class EpisodeLog:
    """Only the thread that steps the environment appends and removes; any thread may read."""

    __slots__ = ("actions", "beginnings", "endings", "rewards", "steps")

    def __init__(self) -> None:
        self.actions: list[Any] = []
        self.rewards: list[Any] = []
        """By columns. An action is appended before its reward."""
        self.steps: list[Step] = []
        """In full: action, reward, terminated, truncated, observation, info, hint[, notes]."""
        self.beginnings: list[tuple[Any, ...]] = []
        """Each is a `Beginning`, or a tuple like one, which is made in a fraction of the time."""
        self.endings: list[tuple[Any, ...]] = []
        """Likewise of `Ending`, one for each beginning but the last."""

    def entries(self, in_full: bool) -> list[Any]:
        """The list that has one entry for each step."""
        return self.steps if in_full else self.rewards
