"""Ticker and FrameLimiter: when the next step and the next frame are due.

Due times are computed from fixed points, so that they do not drift. Ticks missed during a stall
are skipped, because a human could not follow them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_TICK_S = 1 / 30
FRAMES_PER_SECOND = 60
_EARLY_S = 0.004  # tolerates the jitter of 60 Hz ticks


class Ticker:
    """Ticks every `tick_s` / `speed` seconds; at speed 0 a tick is always due."""

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
        """Change the pace; the next tick is due after at most one new period."""
        self._tick_s = self._tick_s if tick_s is None else tick_s
        self._speed = self._speed if speed is None else speed
        self._due = min(self._due, self._clock() + self._period)

    def seconds_left(self) -> float:
        """Until the next tick; 0 if it is due."""
        if not self._speed:
            return 0.0
        return max(0.0, self._due - self._clock())

    def consume(self) -> None:
        """Use the current tick and skip missed ones."""
        now = self._clock()
        self._due += self._period
        if self._due <= now:
            self._due = now + self._period

    def restart(self) -> None:
        """Make the next tick due after a complete period."""
        self._due = self._clock() + self._period


class FrameLimiter:
    """Limits rendering to 60 frames per second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._interval = 1 / FRAMES_PER_SECOND
        self._due = clock()

    def is_due(self) -> bool:
        return self._clock() >= self._due - _EARLY_S

    def consume(self) -> None:
        """Record that a frame is rendered now."""
        self._due = max(self._due + self._interval, self._clock())
