"""A sign of life every few seconds, from a thread of its own."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from mosaic_worker.process_use import process_use

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter

PERIOD_SECONDS = 5.0


class Heartbeat:
    """Emits `heartbeat` lines until stopped. Set `global_step` from the training loop."""

    def __init__(self, emitter: Emitter, period_s: float = PERIOD_SECONDS) -> None:
        self.global_step = 0
        self._emitter = emitter
        self._period_s = period_s
        self._stopped = threading.Event()
        self._last: tuple[float, int] | None = None
        self._thread = threading.Thread(target=self._beat, name="mosaic-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread. No heartbeat follows once this has returned."""
        self._stopped.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _beat(self) -> None:
        while not self._stopped.is_set():
            use = process_use()
            self._emitter.heartbeat(
                global_step=self.global_step,
                sps=self._steps_per_second(time.monotonic()),
                **(use._asdict() if use else {}),
            )
            self._stopped.wait(self._period_s)

    def _steps_per_second(self, now: float) -> float | None:
        """Since the last beat; None for the first."""
        last, step = self._last, self.global_step
        self._last = (now, step)
        if last is None or now <= last[0]:
            return None
        return round((step - last[1]) / (now - last[0]), 1)
