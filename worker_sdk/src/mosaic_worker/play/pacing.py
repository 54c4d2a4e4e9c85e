"""When the next step is due, and when the next picture is.

Time is counted from fixed points, so that it does not drift. What was missed during a stall is not
made up for: a person could not follow.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_TICK_S = 1 / 30
FRAMES_PER_SECOND = 60
_EARLY_S = 0.004  # ticks of 60 Hz are never exactly so far apart


class Ticker:
    """One tick every `tick_s` / `speed` seconds; a speed of 0 is always due."""

    def __init__(
        self, tick_s: float, speed: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tick_s = tick_s
        self._speed = speed
        self._clock = clock
        self._due = clock()

    @property
    def _period(self) -> float:
        return self._tick_s / self._speed if self._speed else 0.0

    def set_pace(self, tick_s: float | None = None, speed: float | None = None) -> None:
        """From now on; the next tick comes no later than at the new pace."""
        self._tick_s = self._tick_s if tick_s is None else tick_s
        self._speed = self._speed if speed is None else speed
        self._due = min(self._due, self._clock() + self._period)

    def seconds_left(self) -> float:
        """Until the next tick; 0 when it is due."""
        if not self._speed:
            return 0.0
        return max(0.0, self._due - self._clock())

    def take(self) -> None:
        """This tick is used; ticks that were missed altogether are forgotten."""
        now = self._clock()
        self._due += self._period
        if self._due <= now:
            self._due = now + self._period

    def restart(self) -> None:
        """After standing still: the next tick is a whole period away."""
        self._due = self._clock() + self._period


class FrameRate:
    """At most 60 pictures a second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._interval = 1 / FRAMES_PER_SECOND
        self._due = clock()

    def is_due(self) -> bool:
        return self._clock() >= self._due - _EARLY_S

    def take(self) -> None:
        """A picture is drawn now."""
        self._due = max(self._due + self._interval, self._clock())
