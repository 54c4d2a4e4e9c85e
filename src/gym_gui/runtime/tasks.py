"""Tasks: blocking work on threads, with callbacks on the UI thread. For models, not for widgets."""

import logging
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from mosaic.contract.errors import UserError

Result = TypeVar("Result")

_log = logging.getLogger(__name__)
_MAX_THREADS = 8
_JOIN_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class _Callbacks:
    """Callbacks of a task."""

    parent: QObject
    on_success: Callable[[Any], None]
    on_failure: Callable[[UserError], None] | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Result or error of a task."""

    result: Any = None
    error: Exception | None = None


class Tasks(QObject):
    """Created once, by the wiring. UI thread only."""

    failed = Signal(object)
    """A `UserError` of a task without a failure callback."""
    _done = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: queue.SimpleQueue[tuple[int, Callable[[], Any]] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads: list[threading.Thread] = []
        self._pending: dict[int, _Callbacks] = {}
        self._next = 0
        self._is_closed = False
        self._done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        parent: QObject,
        op: Callable[[], Result],
        on_success: Callable[[Result], None] = lambda _: None,
        on_failure: Callable[[UserError], None] | None = None,
    ) -> None:
        """Call `op` on a thread, then a callback on the UI thread, unless `parent` was deleted.

        A `UserError` is passed to `on_failure`, or emitted as `failed`; any other exception is a
        bug and is passed to `sys.excepthook`.
        """
        if self._is_closed:
            return
        ticket = self._next
        self._next += 1
        self._pending[ticket] = _Callbacks(parent, on_success, on_failure)
        self._jobs.put((ticket, op))
        if not self._idle.acquire(blocking=False) and len(self._threads) < _MAX_THREADS:
            # Not a thread pool: Python would wait for its threads at exit.
            name = f"task_{len(self._threads)}"
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    @property
    def is_busy(self) -> bool:
        return bool(self._pending)

    def close(self) -> None:
        """Call no more callbacks, and start no pending tasks."""
        self._is_closed = True
        self._pending.clear()
        for _ in self._threads:
            self._jobs.put(None)

    def join(self, timeout_s: float = _JOIN_TIMEOUT_S) -> bool:
        """After `close`, and closing what tasks block on: return whether all threads ended."""
        deadline = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        """On a thread."""
        while (job := self._jobs.get()) is not None and not self._is_closed:
            ticket, op = job
            outcome = _outcome_of(op)
            del job, op  # release what they reference, such as a secret, before waiting
            if not self._is_closed:
                self._done.emit(ticket, outcome)
            self._idle.release()

    @Slot(int, object)
    def _deliver(self, ticket: int, outcome: _Outcome) -> None:
        callbacks = self._pending.pop(ticket, None)
        if callbacks is None or not isValid(callbacks.parent):
            return
        error = outcome.error
        if error is None:
            callbacks.on_success(outcome.result)
        elif not isinstance(error, UserError):
            _log.error("C300 a task of the window failed because of a bug", exc_info=error)
            sys.excepthook(type(error), error, error.__traceback__)
        elif callbacks.on_failure is not None:
            callbacks.on_failure(error)
        else:
            self.failed.emit(error)


def _outcome_of(op: Callable[[], Any]) -> _Outcome:
    try:
        return _Outcome(result=op())
    except Exception as error:  # noqa: BLE001 - the edge of the thread
        return _Outcome(error=error)
