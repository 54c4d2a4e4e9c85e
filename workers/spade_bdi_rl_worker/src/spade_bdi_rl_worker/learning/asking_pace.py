"""How many steps to take before asking again whether to go on, and how fast to go at most."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_WANTED_S = 0.004  # less than half of what is promised: a busy machine takes its time
_MOST = 20_000
_MOST_GROWTH = 4.0


class AskingPace:
    """Adapts to how long steps take: thousands by table, one of a slow simulation.

    With `most_per_s`, also says how long to wait so that people can watch.
    """

    def __init__(
        self, most_per_s: float = 0.0, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """`most_per_s` of 0 is as fast as it can."""
        self._clock = clock
        self._most_per_s = most_per_s
        self._most = max(1, min(_MOST, int(most_per_s * _WANTED_S))) if most_per_s else _MOST
        self._stride = min(8, self._most)
        self._since = clock()

    def begin(self) -> int:
        """Work begins now; so many steps may be taken."""
        self._since = self._clock()
        return self._stride

    def worked(self, steps: int) -> float:
        """So many steps were taken. Returns how long to wait before going on, in seconds."""
        took = max(self._clock() - self._since, 1e-6)
        wanted = self._stride * min(_MOST_GROWTH, _WANTED_S / took)
        self._stride = max(1, min(self._most, int(wanted)))
        return steps / self._most_per_s - took if self._most_per_s else 0.0
