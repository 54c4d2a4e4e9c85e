"""Stream: an iterator over what the daemon sends, which survives the daemon.

When the connection is lost it is made again, from the cursor on, so nothing is missed and nothing
comes twice. `close()` may be called from any thread and ends the iteration.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Self, TypeVar

import grpc

from mosaic.client.connection import Connection, growing_pauses
from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.interruptible import Task
from mosaic.client.rpc_errors import readable
from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceStub

Item = TypeVar("Item")

Opener = Callable[[TrainerServiceStub], "grpc.UnaryStreamMultiCallable[Any, Any]"]


class Stream(Generic[Item]):
    """Iterate over it, or use it in a `with` block to end it early."""

    def __init__(
        self,
        connection: Connection,
        method: Opener,
        request: Callable[[], Any],
        unpack: Callable[[Any], Iterable[Item]],
        *,
        at_end: Callable[[], Iterable[Item]] = tuple,
        patience_s: float | None = None,
        deadline: float | None = None,
    ) -> None:
        """`request` is asked anew for every connection, and so carries the cursor.

        `patience_s` says how long to wait for a daemon that is gone (None: for ever), `deadline`
        at which reading of `time.monotonic()` the stream fails as too slow.
        """
        self._connection = connection
        self._method = method
        self._request = request
        self._unpack = unpack
        self._at_end = at_end
        self._patience_s = patience_s
        self._deadline = deadline
        self._ready: deque[Item] = deque()
        self._lock = threading.Lock()
        self._call: Any = None
        self._closing = threading.Event()
        self._is_over = False
        self._receiving: Task[None] | None = None
        """Left behind by a main thread that was interrupted while it waited; not begun twice."""

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        while not self._ready:
            if self._is_over or self._closing.is_set():
                raise StopIteration
            self._wait_for_more()
        return self._ready.popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """End the stream. A thread that waits in it stops waiting."""
        with self._lock:
            self._closing.set()
            call = self._call
        if call is not None:
            call.cancel()

    def _wait_for_more(self) -> None:
        if self._receiving is None and threading.current_thread() is not threading.main_thread():
            self._receive()
            return
        task = self._receiving = self._receiving or Task(self._receive)
        try:
            task.result()
        finally:
            if task.is_done:
                self._receiving = None

    def _receive(self) -> None:
        """Waits for one message, or for the end."""
        lost_at: float | None = None
        pauses = growing_pauses()
        while True:
            try:
                call = self._current_call()
                if call is None:
                    return
                message = next(call)
            except StopIteration:
                self._is_over = True
                self._ready.extend(self._at_end())
                return
            except grpc.RpcError as error:
                self._drop_call()
                if self._closing.is_set() or self._connection.is_closed:
                    self._is_over = True
                    return
                failure = readable(error, str(self._connection.whereabouts))
                if not isinstance(failure, DaemonUnreachableError):
                    raise failure from error
            except DaemonUnreachableError as error:
                failure = error
            else:
                self._ready.extend(self._unpack(message))
                return
            now = time.monotonic()
            lost_at = now if lost_at is None else lost_at
            is_too_late = self._deadline is not None and now >= self._deadline
            if is_too_late or (self._patience_s is not None and now - lost_at >= self._patience_s):
                raise failure
            self._closing.wait(next(pauses))

    def _current_call(self) -> Any:
        with self._lock:
            if self._closing.is_set():
                return None
            if self._call is None:
                stub, metadata = self._connection.current()
                timeout_s = self._deadline and max(0.0, self._deadline - time.monotonic())
                self._call = self._method(stub)(
                    self._request(), metadata=metadata, timeout=timeout_s
                )
                self._connection.open_calls.add(self._call)
            return self._call

    def _drop_call(self) -> None:
        with self._lock:
            self._call = None
