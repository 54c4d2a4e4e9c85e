"""Tasks: slow work on a pool, and what came of it back on the UI thread. Widgets own no threads."""

import logging
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from mosaic.contract.errors import UserError

Result = TypeVar("Result")

_log = logging.getLogger(__name__)
_MOST_THREADS = 8


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Who is to be told, and how."""

    parent: QObject
    on_success: Callable[[Any], None]
    on_failure: Callable[[UserError], None] | None


class Tasks(QObject):
    """Made once, by the wiring. `run` is called on the UI thread only."""

    failed = Signal(object)
    """A `UserError` that nobody has asked to be told of: to be shown to the person."""
    _done = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="task")
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
        future = self._pool.submit(op)
        future.add_done_callback(lambda done: self._hand_over(ticket, done))

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting)

    def close(self) -> None:
        """Nothing is called back any more; what has not begun never does."""
        self._is_closed = True
        self._waiting.clear()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """After `close`, and once what blocks was ended: wait for the threads."""
        self._pool.shutdown(wait=True)

    def _hand_over(self, ticket: int, done: Future[Any]) -> None:
        """On the thread of the pool."""
        if not self._is_closed and not done.cancelled():
            self._done.emit(ticket, done)

    @Slot(int, object)
    def _deliver(self, ticket: int, done: Future[Any]) -> None:
        waiting = self._waiting.pop(ticket, None)
        if waiting is None or not isValid(waiting.parent):
            return
        error = done.exception()
        if error is None:
            waiting.on_success(done.result())
        elif not isinstance(error, UserError):
            _log.error("C300 a task of the window failed by a bug", exc_info=error)
            sys.excepthook(type(error), error, error.__traceback__)
        elif waiting.on_failure is not None:
            waiting.on_failure(error)
        else:
            self.failed.emit(error)
