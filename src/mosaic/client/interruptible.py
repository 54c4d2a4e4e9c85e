"""Ctrl-C while a call is under way.

gRPC is not made for an exception out of nowhere: one that strikes while a call begins leaves its
channel in a state in which closing it waits for ever. Only the main thread is struck, so calls of
the main thread are carried out by another one, and the main thread merely waits.
"""

import _thread
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


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

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
            self._error = error
        finally:
            self._is_done = True
            self._running.release()


def carry_out(call: Callable[[], Result]) -> Result:
    """The result of `call`, made where Ctrl-C cannot strike it."""
    if threading.current_thread() is threading.main_thread():
        return Task(call).result()
    return call()
