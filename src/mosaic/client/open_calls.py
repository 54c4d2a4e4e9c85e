"""OpenCalls: tracks the streaming calls of a connection and the gRPC threads behind them.

gRPC serves a streaming call on daemon threads of its own. A daemon thread that still runs while the
interpreter shuts down is stopped at an arbitrary line, possibly while it holds the lock of its
call. The garbage collector then finalizes the call, waits for that lock, and the process never
exits. So calls are cancelled and their threads are joined before the interpreter shuts down.
"""

import atexit
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from mosaic.client.off_main_thread import join_background_calls

Request = TypeVar("Request")

EXIT_TIMEOUT_S = 5.0
"""How long process exit may wait for gRPC threads, which normally end within milliseconds."""

_all: "weakref.WeakSet[OpenCalls]" = weakref.WeakSet()


class OpenCalls:
    """The open streaming calls of one connection. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: set[Any] = set()
        self._threads: set[threading.Thread] = set()
        _all.add(self)

    def add(self, call: Any) -> None:
        """Track `call` until gRPC is done with it."""
        adding_thread = threading.current_thread()

        def on_done(_: object) -> None:
            with self._changed:
                self._calls.discard(call)
                self._add_thread(adding_thread)
                self._changed.notify_all()

        with self._changed:
            self._calls.add(call)
        call.add_done_callback(on_done)

    def requests(self, requests: Iterable[Request]) -> Iterator[Request]:
        """Wrap `requests` of a call whose request stream gRPC reads on another thread."""
        adding_thread = threading.current_thread()

        def iterate() -> Iterator[Request]:
            with self._changed:
                self._add_thread(adding_thread)
            yield from requests

        return iterate()

    def cancel(self) -> None:
        """Cancel every call. Returns immediately."""
        with self._changed:
            calls = list(self._calls)
        for call in calls:
            call.cancel()

    def join(self, timeout_s: float) -> bool:
        """Wait until no call is open and all gRPC threads have ended; return False on timeout."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            if not self._changed.wait_for(lambda: not self._calls, timeout_s):
                return False
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _add_thread(self, adding_thread: threading.Thread) -> None:
        """The current thread is gRPC's, unless the call was done before it could be tracked."""
        thread = threading.current_thread()
        self._threads = {known for known in self._threads if known.is_alive()}
        if thread is not adding_thread:
            self._threads.add(thread)


def _cancel_all_calls() -> None:
    deadline = time.monotonic() + EXIT_TIMEOUT_S
    tracked = list(_all)
    for calls in tracked:
        calls.cancel()
    for calls in tracked:
        calls.join(max(0.0, deadline - time.monotonic()))
    join_background_calls(max(0.0, deadline - time.monotonic()))


atexit.register(_cancel_all_calls)
