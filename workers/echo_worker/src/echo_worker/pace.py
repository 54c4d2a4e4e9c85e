"""Keeps to so many steps per second, in bursts of 40 ms, so that many workers fit on a machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mosaic_worker import Run

BURST_SECONDS = 0.04


class Pace:
    """`rate` steps per second; 0 never waits."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._allowed = 0.0
        self._since = time.monotonic()

    def restart(self) -> None:
        """Forget the time that passed, after a pause: it is not to be caught up."""
        self._allowed = 0.0
        self._since = time.monotonic()

    def wait(self, run: Run) -> None:
        """Return when the next step may be made, or the run is to stop."""
        if not self._rate:
            return
        while self._allowed < 1.0 and not run.should_stop:
            run.wait(max(BURST_SECONDS, (1.0 - self._allowed) / self._rate))
            now = time.monotonic()
            self._allowed += (now - self._since) * self._rate
            self._since = now
        self._allowed -= 1.0
