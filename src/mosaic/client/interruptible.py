"""Ctrl-C while a call is under way.

gRPC is not made for an exception out of nowhere: one that strikes while a call begins leaves its
channel in a state in which closing it waits for ever. Only the main thread is struck, so calls of
the main thread are carried out by another one, and the main thread merely waits.
"""

import _thread
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")

_unfinished: "set[Task[Any]]" = set()


class Task(Generic[Result]):
    """A call on a thread of its own."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call = call
        # Bare locks and a bare thread: Python's events and threads can be torn by an interrupt.
        self._running = threading.Lock()
        self._running.acquire()
        self._is_done = False
        self._result: list[Result] = []
        self._error: BaseException | None = None
        _unfinished.add(self)
        _thread.start_new_thread(self._run, ())

    def result(self) -> Result:
        """Waits for the end of the call, and may be interrupted without harm."""
        with self._running:
            pass
        if self._error is not None:
            raise self._error
        return self._result[0]

    @property
    def is_done(self) -> bool:
        return self._is_done

    def join(self, timeout_s: float) -> bool:
        """Wait for the end of the call; False if it has not ended in time."""
        is_finished = self._running.acquire(timeout=timeout_s)
        if is_finished:
            self._running.release()
        return is_finished

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
            self._error = error
        finally:
            self._is_done = True
            _unfinished.discard(self)
            self._running.release()


def join_tasks(timeout_s: float) -> bool:
    """Wait for calls whose caller was interrupted; False if one has not ended in time."""
    deadline = time.monotonic() + timeout_s
    return all(task.join(max(0.0, deadline - time.monotonic())) for task in list(_unfinished))


def carry_out(call: Callable[[], Result]) -> Result:
    """The result of `call`, made where Ctrl-C cannot strike it."""
    if threading.current_thread() is threading.main_thread():
        return Task(call).result()
    return call()
