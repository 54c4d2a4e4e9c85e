"""Connection: the channel to the daemon, the token on every call, repeating and reconnecting.

Used by every module of this package that makes a call. Any thread may use it.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

# gRPC's core writes to stderr of its own accord; whoever wants that can still ask for it.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
from google.protobuf.message import Message

from mosaic.client.daemon_address import Target, Whereabouts
from mosaic.client.errors import DaemonUnreachableError, TrainerError
from mosaic.client.interruptible import carry_out
from mosaic.client.open_calls import OpenCalls
from mosaic.client.rpc_errors import readable
from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceStub

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

CALL_TIMEOUT_S = 30.0
PATIENCE_S = 5.0
"""As long as a daemon takes that is just restarted."""
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 1.0
_MAX_RECEIVED_BYTES = 64 << 20  # a frame of a large screen, with room to spare
_OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.max_receive_message_length", _MAX_RECEIVED_BYTES),
    # A daemon that comes back is found at once, not after minutes. (The option for the shortest
    # pause is left alone: it also bounds how long a busy daemon may take to accept.)
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    # What may be repeated is decided here, call by call.
    ("grpc.enable_retries", 0),
)


class Connection:
    """Speaks to the daemon at `whereabouts`, wherever that is by now."""

    def __init__(self, whereabouts: Whereabouts) -> None:
        self.whereabouts = whereabouts
        self.open_calls = OpenCalls()
        self._lock = threading.Lock()
        self._target: Target | None = None
        self._channels: list[grpc.Channel] = []
        self._stub: TrainerServiceStub | None = None
        self._is_closed = False

    def close(self) -> None:
        """End every call that is under way. Returns at once; `open_calls` can be joined."""
        with self._lock:
            self._is_closed = True
            channels, self._channels = self._channels, []
        self.open_calls.cancel()
        for channel in channels:
            channel.close()

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def call(
        self,
        method: Callable[[TrainerServiceStub], "grpc.UnaryUnaryMultiCallable[Request, Response]"],
        request: Request,
        *,
        timeout_s: float = CALL_TIMEOUT_S,
        patience_s: float | None = PATIENCE_S,
    ) -> Response:
        """The answer. While the daemon cannot be reached the call is made again, for `patience_s`.

        0 is for what must not happen twice, None for ever.
        """

        def attempt() -> Response:
            stub, metadata = self.current()
            return method(stub)(request, timeout=timeout_s, metadata=metadata)

        began = time.monotonic()
        pauses = growing_pauses()
        while True:
            try:
                return carry_out(attempt)
            except DaemonUnreachableError as error:
                failure: TrainerError = error
            except grpc.RpcError as error:
                failure = readable(error, str(self.whereabouts))
                if not isinstance(failure, DaemonUnreachableError):
                    raise failure from error
            if patience_s is not None and time.monotonic() - began >= patience_s:
                raise failure
            time.sleep(next(pauses))

    def upload(
        self,
        method: Callable[[TrainerServiceStub], "grpc.StreamUnaryMultiCallable[Request, Response]"],
        requests: Iterable[Request],
    ) -> Response:
        """The answer to a stream of requests. Never repeated."""

        def attempt() -> Response:
            stub, metadata = self.current()
            return method(stub)(self.open_calls.requests(requests), metadata=metadata)

        try:
            return carry_out(attempt)
        except grpc.RpcError as error:
            raise readable(error, str(self.whereabouts)) from error

    def current(self) -> tuple[TrainerServiceStub, tuple[tuple[str, str], ...]]:
        """The stub and the metadata for a call to the daemon where it is now."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError("this TrainerClient is closed")
            target = self.whereabouts.look()
            if self._stub is None or target != self._target:
                # The channel before stays open: another thread may be about to use it.
                channel = _open_channel(target)
                self._channels.append(channel)
                self._stub = TrainerServiceStub(channel)
                self._target = target
            return self._stub, (("authorization", f"Bearer {target.token}"),)


def growing_pauses() -> Iterator[float]:
    """How long to wait before each further attempt, without end."""
    pause = _FIRST_PAUSE_S
    while True:
        yield pause
        pause = min(pause * 2, _LONGEST_PAUSE_S)


def _open_channel(target: Target) -> grpc.Channel:
    if target.certificate is None:
        return grpc.insecure_channel(target.address, options=_OPTIONS)
    credentials = grpc.ssl_channel_credentials(root_certificates=target.certificate)
    return grpc.secure_channel(target.address, credentials, options=_OPTIONS)
