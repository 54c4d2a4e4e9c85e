"""Counts what keeps going wrong, and says when to mention it again."""

from __future__ import annotations

import os
import threading
import time

_QUIET_SECONDS = 10.0


class Tally:
    """One count per log code; a code is due at its first time, then at most every ten seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._unsaid: dict[str, str] = {}
        self._quiet_until: dict[str, float] = {}
        os.register_at_fork(after_in_child=self._forget)

    def add(self, code: str, message: str) -> int:
        """Count one; returns the count so far when it should be said now, else 0."""
        now = time.monotonic()
        with self._lock:
            count = self._counts[code] = self._counts.get(code, 0) + 1
            if now < self._quiet_until.get(code, 0.0):
                self._unsaid[code] = message
                return 0
            self._quiet_until[code] = now + _QUIET_SECONDS
            self._unsaid.pop(code, None)
            return count

    def take_unsaid(self) -> list[tuple[str, str, int]]:
        """(code, last message, count) of everything counted since it was last mentioned."""
        with self._lock:
            unsaid = [(code, text, self._counts[code]) for code, text in self._unsaid.items()]
            self._unsaid.clear()
            return unsaid

    def _forget(self) -> None:
        """In a forked child: what is unsaid is for the parent to say, and the lock is its own."""
        self._lock = threading.Lock()
        self._unsaid.clear()
