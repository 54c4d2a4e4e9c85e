"""RunControl: the stop and pause requests of a run.

The control thread and the signal thread set them, the worker's loop reads them. Never use it inside
a signal handler: taking a lock that the interrupted code holds would deadlock the process.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class RunControl:
    """Thread-safe stop and pause flags. Reading `is_stopping` and `is_paused` takes no lock."""

    def __init__(self) -> None:
        self.is_stopping = False
        self.is_paused = False
        self.reason = ""
        self._condition = threading.Condition()
        os.register_at_fork(after_in_child=self._reset_after_fork)

    def stop(self, reason: str) -> bool:
        """Request the end of the run; True for the first request."""
        with self._condition:
            if self.is_stopping:
                return False
            self.reason = reason
            self.is_stopping = True
            self._condition.notify_all()
            return True

    def pause(self) -> None:
        with self._condition:
            self.is_paused = True

    def resume(self) -> None:
        with self._condition:
            self.is_paused = False
            self._condition.notify_all()

    def wait(self, seconds: float) -> bool:
        """Sleep, or return early when a stop is requested. Returns `is_stopping`."""
        deadline = time.monotonic() + seconds
        with self._condition:
            while not self.is_stopping:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    break
                self._condition.wait(min(remaining, threading.TIMEOUT_MAX))
        return self.is_stopping

    def wait_while_paused(self) -> None:
        """Block until resumed or stopped."""
        with self._condition:
            self._condition.wait_for(lambda: self.is_stopping or not self.is_paused)

    def wait_until(self, ready: Callable[[], bool], seconds: float | None) -> None:
        """Block until `ready()` is true, a stop is requested, or `seconds` have passed.

        `ready` is evaluated again at each `notify`.
        """
        timeout = None if seconds is None else min(seconds, threading.TIMEOUT_MAX)
        with self._condition:
            self._condition.wait_for(lambda: self.is_stopping or ready(), timeout)

    def notify(self) -> None:
        """Make every `wait_until` evaluate its condition again."""
        with self._condition:
            self._condition.notify_all()

    def _reset_after_fork(self) -> None:
        """In a forked child the thread that may hold the lock does not exist."""
        self._condition = threading.Condition()
