"""What a run has been told to do: go on, wait, or end.

Set by the control thread and the signal thread, read by the worker's loop. Never touched inside a
signal handler, where taking a lock that the interrupted code holds would hang the process.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Flow:
    """Stop and pause, safe from any thread. `stopping` and `paused` are cheap to read."""

    def __init__(self) -> None:
        self.stopping = False
        self.paused = False
        self.reason = ""
        self._changed = threading.Condition()
        os.register_at_fork(after_in_child=self._forget)

    def stop(self, reason: str) -> bool:
        """Ask the run to end; True for the first to ask."""
        with self._changed:
            if self.stopping:
                return False
            self.reason = reason
            self.stopping = True
            self._changed.notify_all()
            return True

    def pause(self) -> None:
        with self._changed:
            self.paused = True

    def resume(self) -> None:
        with self._changed:
            self.paused = False
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Sleep, but wake at once when the run is asked to stop. Returns `stopping`."""
        until = time.monotonic() + seconds
        with self._changed:
            while not self.stopping:
                left = until - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
        return self.stopping

    def wait_while_paused(self) -> None:
        """Block while paused and not stopping."""
        with self._changed:
            self._changed.wait_for(lambda: self.stopping or not self.paused)

    def wait_until(self, ready: Callable[[], bool], seconds: float | None) -> None:
        """Block until `ready`, asked again at each `nudge`, or stopping, or the time is over."""
        timeout = None if seconds is None else min(seconds, threading.TIMEOUT_MAX)
        with self._changed:
            self._changed.wait_for(lambda: self.stopping or ready(), timeout)

    def nudge(self) -> None:
        """Something that a `wait_until` may be waiting for has changed."""
        with self._changed:
            self._changed.notify_all()

    def _forget(self) -> None:
        """In a forked child: the thread that may hold the lock is not there to release it."""
        self._changed = threading.Condition()
