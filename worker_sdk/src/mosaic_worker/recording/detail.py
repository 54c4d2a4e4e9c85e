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

    __slots__ = ("_begun", "has_columns", "is_full", "is_sampled", "name")

    def __init__(self, name: str) -> None:
        """WorkerError when there is no such policy."""
        if name not in DETAILS:
            raise WorkerError(
                f"{name!r} is no detail of steps.", remedy=f"Use one of {', '.join(DETAILS)}."
            )
        self.name = name
        self.has_columns = name != OFF
        self.is_full = name == ALL
        """Whether every step of every episode gets a line of its own."""
        self.is_sampled = name == SAMPLED
        self._begun = count()

    def is_full_sample(self) -> bool:
        """Whether the episode that now begins is a tenth one."""
        return next(self._begun) % _SAMPLE_EVERY == 0
