"""Calls that Ctrl-C cannot interrupt halfway.

If an exception such as KeyboardInterrupt is raised while a gRPC call starts, the channel is left
in a state in which closing it blocks forever. Python raises KeyboardInterrupt only in the main
thread, so calls of the main thread are made on another thread while the main thread waits.
"""

import _thread
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")

_unfinished: "set[BackgroundCall[Any]]" = set()


class BackgroundCall(Generic[Result]):
    """A call that runs on its own thread, started on construction."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call = call
        # Bare locks and a bare thread: an interrupt can leave threading.Event and
        # threading.Thread in an inconsistent state.
        self._running = threading.Lock()
        self._running.acquire()
        self._is_done = False
        self._result: list[Result] = []
        self._error: BaseException | None = None
        _unfinished.add(self)
        _thread.start_new_thread(self._run, ())

    def result(self) -> Result:
        """Wait for the call and return its result. The wait can be interrupted safely."""
        with self._running:
            pass
        if self._error is not None:
            raise self._error
        return self._result[0]

    @property
    def is_done(self) -> bool:
        return self._is_done

    def join(self, timeout_s: float) -> bool:
        """Wait for the end of the call; return False on timeout."""
        is_finished = self._running.acquire(timeout=timeout_s)
        if is_finished:
            self._running.release()
        return is_finished

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # noqa: BLE001 - raised again in result()
            self._error = error
        finally:
            self._is_done = True
            _unfinished.discard(self)
            self._running.release()


def join_background_calls(timeout_s: float) -> bool:
    """Wait for calls whose caller was interrupted; return False on timeout."""
    deadline = time.monotonic() + timeout_s
    return all(call.join(max(0.0, deadline - time.monotonic())) for call in list(_unfinished))


def run_off_main_thread(call: Callable[[], Result]) -> Result:
    """Return the result of `call`, which never runs on the main thread."""
    if threading.current_thread() is threading.main_thread():
        return BackgroundCall(call).result()
    return call()
