"""Tasks: slow work on threads, and what came of it back on the UI thread. Widgets have none."""

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
class _Waiting:
    """Callbacks of a task."""

    parent: QObject
    on_success: Callable[[Any], None]
    on_failure: Callable[[UserError], None] | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a task."""

    result: Any = None
    error: Exception | None = None


class Tasks(QObject):
    """Made once, by the wiring. `run` is called on the UI thread only."""

    failed = Signal(object)
    """A `UserError` without a failure callback: to be displayed."""
    _done = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: queue.SimpleQueue[tuple[int, Callable[[], Any]] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads: list[threading.Thread] = []
        self._waiting: dict[int, _Waiting] = {}
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
        """Carry out `op` on a thread, then call back on the UI thread, unless `parent` is gone.

        A `UserError` goes to `on_failure`, or becomes `failed`; anything else is a bug and reaches
        `sys.excepthook`.
        """
        if self._is_closed:
            return
        ticket = self._next
        self._next += 1
        self._waiting[ticket] = _Waiting(parent, on_success, on_failure)
        self._jobs.put((ticket, op))
        if not self._idle.acquire(blocking=False) and len(self._threads) < _MAX_THREADS:
            # Not those of a pool: Python waits for them at its end, however long they take.
            name = f"task_{len(self._threads)}"
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting)

    def close(self) -> None:
        """Nothing is called back any more; what has not begun never does."""
        self._is_closed = True
        self._waiting.clear()
        for _ in self._threads:
            self._jobs.put(None)

    def join(self, timeout_s: float = _JOIN_TIMEOUT_S) -> bool:
        """After `close`, and once what blocks was ended: whether all threads have ended."""
        deadline = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        """On a thread."""
        while (job := self._jobs.get()) is not None and not self._is_closed:
            ticket, op = job
            outcome = _outcome_of(op)
            del job, op  # what they hold on to, such as a secret, is not kept until the next one
            if not self._is_closed:
                self._done.emit(ticket, outcome)
            self._idle.release()

    @Slot(int, object)
    def _deliver(self, ticket: int, outcome: _Outcome) -> None:
        waiting = self._waiting.pop(ticket, None)
        if waiting is None or not isValid(waiting.parent):
            return
        error = outcome.error
        if error is None:
            waiting.on_success(outcome.result)
        elif not isinstance(error, UserError):
            _log.error("C300 a task of the window failed by a bug", exc_info=error)
            sys.excepthook(type(error), error, error.__traceback__)
        elif waiting.on_failure is not None:
            waiting.on_failure(error)
        else:
            self.failed.emit(error)


def _outcome_of(op: Callable[[], Any]) -> _Outcome:
    try:
        return _Outcome(result=op())
    except Exception as error:  # noqa: BLE001 - the edge of the thread
        return _Outcome(error=error)
