"""How much of an episode is written: every step, columns of actions and rewards, or its end."""

from __future__ import annotations

from itertools import count

from mosaic_worker.errors import WorkerError

ALL = "all"
SAMPLED = "sampled"
COLUMNS = "columns"
OFF = "off"
DETAILS = (ALL, SAMPLED, COLUMNS, OFF)

_SAMPLE_EVERY = 10


class Detail:
    """One of the four policies. `sampled` writes every tenth episode in full, others by columns."""

    __slots__ = ("_begun", "_is_all", "_is_sampled", "has_columns", "name")

    def __init__(self, name: str) -> None:
        """WorkerError when there is no such policy."""
        if name not in DETAILS:
            raise WorkerError(
                f"{name!r} is no detail of steps.", remedy=f"Use one of {', '.join(DETAILS)}."
            )
        self.name = name
        self.has_columns = name != OFF
        self._is_all = name == ALL
        self._is_sampled = name == SAMPLED
        self._begun = count()

    def next_is_full(self) -> bool:
        """Whether every step of the episode that now begins gets a line of its own."""
        if self._is_sampled:
            return next(self._begun) % _SAMPLE_EVERY == 0
        return self._is_all
