"""What happened in one episode, as the thread that steps the environment leaves it.

Between two steps of an environment everything costs several times what it costs in a row. So a
step only appends to a list here, and `feed` makes lines of it when lines are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Captured = bytes | dict[str, str] | None
    Step = tuple[Any, ...]

NOTHING_SEEN = (None, None, None)


class EpisodeLog:
    """One episode. What is appended may be taken away again at any time, by another thread."""

    __slots__ = (
        "action_dtype",
        "actions",
        "captured",
        "ending",
        "episode",
        "in_full",
        "is_left",
        "options",
        "rewards",
        "seed",
        "seen",
        "steps",
    )

    actions: list[Any]
    rewards: list[Any]
    """Only by columns. An action is appended before its reward."""
    steps: list[Step]
    """Only in full: action, reward, terminated, truncated, observation, info, hint[, notes]."""

    def __init__(
        self, episode: int, seed: int | None, captured: Captured, options: Any, in_full: bool
    ) -> None:
        self.episode = episode
        self.seed = seed
        self.captured = captured
        self.options = options
        self.in_full = in_full
        if in_full:
            self.steps = []
        else:
            self.actions = []
            self.rewards = []
        self.seen: tuple[Any, Any, Any] = NOTHING_SEEN
        """Observation, info and a hint for drawing them, at the reset."""
        self.action_dtype: str | None = None
        self.ending: tuple[bool, bool, float] | None = None
        """Terminated, truncated and the time; set after the last step."""
        self.is_left = False
        """It stays without an end: its environment was closed, or reset before the first step."""

    def count(self) -> int:
        """How many steps are here and not yet taken."""
        return len(self.steps if self.in_full else self.rewards)
