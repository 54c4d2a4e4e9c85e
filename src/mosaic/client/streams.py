"""Stream: an iterator over the messages of a server stream, with automatic reconnect.

After a lost connection it continues at its cursor, so no item is missed or repeated. `close()` may
be called from any thread and ends the iteration.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Self, TypeVar

import grpc

from mosaic.client.connection import Connection, backoff_delays_s
from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.off_main_thread import BackgroundCall
from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceStub

Item = TypeVar("Item")

Opener = Callable[[TrainerServiceStub], "grpc.UnaryStreamMultiCallable[Any, Any]"]


class Stream(Generic[Item]):
    """Iterate over it; use it in a `with` block to end it early."""

    def __init__(
        self,
        connection: Connection,
        method: Opener,
        request: Callable[[], Any],
        unpack: Callable[[Any], Iterable[Item]],
        *,
        at_end: Callable[[], Iterable[Item]] = tuple,
        reconnect_timeout_s: float | None = None,
        deadline: float | None = None,
    ) -> None:
        """`request` is called for every connection, so that it can contain the current cursor.

        `reconnect_timeout_s` is how long to wait for an unreachable daemon (None: forever),
        `deadline` the value of `time.monotonic()` at which the stream fails with a timeout.
        """
        self._connection = connection
        self._method = method
        self._request = request
        self._unpack = unpack
        self._at_end = at_end
        self._reconnect_timeout_s = reconnect_timeout_s
        self._deadline = deadline
        self._ready: deque[Item] = deque()
        self._lock = threading.Lock()
        self._call: Any = None
        self._closing = threading.Event()
        self._is_finished = False
        self._receiving: BackgroundCall[None] | None = None
        """Still running after the main thread was interrupted in its wait; never started twice."""

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        while not self._ready:
            if self._is_finished or self._closing.is_set():
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
        """End the stream. A thread that is waiting in it returns."""
        with self._lock:
            self._closing.set()
            call = self._call
        if call is not None:
            call.cancel()

    def _wait_for_more(self) -> None:
        if self._receiving is None and threading.current_thread() is not threading.main_thread():
            self._receive()
            return
        call = self._receiving = self._receiving or BackgroundCall(self._receive)
        try:
            call.result()
        finally:
            if call.is_done:
                self._receiving = None

    def _receive(self) -> None:
        """Wait for one message or for the end of the stream."""
        lost_at: float | None = None
        delays_s = backoff_delays_s()
        while True:
            try:
                call = self._current_call()
                if call is None:
                    return
                message = next(call)
            except StopIteration:
                self._is_finished = True
                self._ready.extend(self._at_end())
                return
            except grpc.RpcError as error:
                self._drop_call()
                if self._closing.is_set() or self._connection.is_closed:
                    self._is_finished = True
                    return
                failure = self._connection.to_error(error)
                if not isinstance(failure, DaemonUnreachableError):
                    raise failure from error
            except DaemonUnreachableError as error:
                failure = error
            else:
                self._ready.extend(self._unpack(message))
                return
            now = time.monotonic()
            lost_at = now if lost_at is None else lost_at
            is_past_deadline = self._deadline is not None and now >= self._deadline
            if is_past_deadline or (
                self._reconnect_timeout_s is not None and now - lost_at >= self._reconnect_timeout_s
            ):
                raise failure
            self._closing.wait(next(delays_s))

    def _current_call(self) -> Any:
        with self._lock:
            if self._closing.is_set():
                return None
            if self._call is None:
                stub, metadata = self._connection.current_stub()
                timeout_s = self._deadline and max(0.0, self._deadline - time.monotonic())
                self._call = self._method(stub)(
                    self._request(), metadata=metadata, timeout=timeout_s
                )
                self._connection.open_calls.add(self._call)
            return self._call

    def _drop_call(self) -> None:
        with self._lock:
            self._call = None
