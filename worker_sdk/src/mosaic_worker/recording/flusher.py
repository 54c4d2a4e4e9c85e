"""Writes what episodes in progress hold back, several times a second, from a thread of its own.

So a process that is killed loses next to nothing, also when its loop stands still.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PERIOD_SECONDS = 0.15  # with what the machine adds, steps are safe after 200 ms


class Flusher:
    """Calls `flush` until it is stopped. Its thread never keeps the process alive."""

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush = flush
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        os.register_at_fork(after_in_child=self._forget)

    def start(self) -> None:
        """From the thread that attaches environments; more than once does no harm."""
        if self._thread is None and not self._stopped.is_set():
            self._thread = threading.Thread(target=self._run, name="mosaic-recorder", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(PERIOD_SECONDS):
            self._flush()

    def _forget(self) -> None:
        """In a forked child there is no such thread, and nothing to write that is the child's."""
        self._stopped = threading.Event()
        self._thread = None
