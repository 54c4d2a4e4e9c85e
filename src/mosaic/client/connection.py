"""Connection: the gRPC channel to the daemon, the token on every call, retries and reconnects.

Used by every module of this package that makes a call. Thread-safe.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

# gRPC's core logs to stderr by default; users can still set the variable themselves.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
from google.protobuf.message import Message

from mosaic.client.daemon_address import AddressResolver, ConnectionTarget
from mosaic.client.daemon_identity import DaemonIdentity, SocketChannel
from mosaic.client.errors import DaemonUnreachableError, InvalidTokenError, TrainerError
from mosaic.client.off_main_thread import run_off_main_thread
from mosaic.client.open_calls import OpenCalls
from mosaic.client.rpc_errors import UNREACHABLE_REMEDY, to_trainer_error
from mosaic.contract.endpoint import SOCKET_SCHEME
from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceStub

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

CALL_TIMEOUT_S = 30.0
RETRY_TIMEOUT_S = 5.0
"""How long a restart of the daemon may take."""
_INITIAL_BACKOFF_S = 0.1
_MAX_BACKOFF_S = 1.0
_MAX_RECEIVED_BYTES = 64 << 20  # more than the frame of a large screen
_OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.max_receive_message_length", _MAX_RECEIVED_BYTES),
    # Reconnect to a restarted daemon within a second. (min_reconnect_backoff_ms keeps its default:
    # it also limits how long a busy daemon may take to accept a connection.)
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    # Retries are decided here, call by call.
    ("grpc.enable_retries", 0),
)


class Connection:
    """Calls the daemon at the address that `resolver` returns at the time of the call."""

    def __init__(self, resolver: AddressResolver) -> None:
        self.resolver = resolver
        self.open_calls = OpenCalls()
        self._lock = threading.Lock()
        self._target: ConnectionTarget | None = None
        self._channels: list[grpc.Channel | SocketChannel] = []
        self._stub: TrainerServiceStub | None = None
        self._is_closed = False

    def close(self) -> None:
        """Cancel every open call. Returns immediately; `open_calls` can be joined."""
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
        retry_timeout_s: float | None = RETRY_TIMEOUT_S,
    ) -> Response:
        """Make a call and return the answer, retrying for `retry_timeout_s` while unreachable.

        Pass 0 for a call that must not be made twice, None to retry forever.
        """

        def attempt() -> Response:
            stub, metadata = self.current_stub()
            return method(stub)(request, timeout=timeout_s, metadata=metadata)

        started_at = time.monotonic()
        delays_s = backoff_delays_s()
        while True:
            try:
                return run_off_main_thread(attempt)
            except DaemonUnreachableError as error:
                failure: TrainerError = error
            except grpc.RpcError as error:
                failure = self.to_error(error)
                if not isinstance(failure, DaemonUnreachableError):
                    raise failure from error
            if retry_timeout_s is not None and time.monotonic() - started_at >= retry_timeout_s:
                raise failure
            time.sleep(next(delays_s))

    def upload(
        self,
        method: Callable[[TrainerServiceStub], "grpc.StreamUnaryMultiCallable[Request, Response]"],
        requests: Iterable[Request],
    ) -> Response:
        """Send a stream of requests and return the answer. Never retried."""

        def attempt() -> Response:
            stub, metadata = self.current_stub()
            return method(stub)(self.open_calls.requests(requests), metadata=metadata)

        try:
            return run_off_main_thread(attempt)
        except grpc.RpcError as error:
            raise self.to_error(error) from error

    def to_error(self, error: grpc.RpcError) -> TrainerError:
        """Return `error` as a `TrainerError`; a daemon that was restarted is unreachable once."""
        failure = to_trainer_error(error, str(self.resolver))
        if isinstance(failure, InvalidTokenError) and self._is_target_outdated():
            return DaemonUnreachableError(
                "The daemon was restarted during the call.", remedy=UNREACHABLE_REMEDY
            )
        return failure

    def _is_target_outdated(self) -> bool:
        """Whether the daemon has another token than that of the last call."""
        with self._lock:
            try:
                return self.resolver.resolve() != self._target
            except DaemonUnreachableError:
                return True

    def current_stub(self) -> tuple[TrainerServiceStub, tuple[tuple[str, str], ...]]:
        """Return the stub and the metadata for a call to the daemon at its current address."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError("this TrainerClient is closed")
            target = self.resolver.resolve()
            if self._stub is None or target != self._target:
                # The previous channel stays open: another thread may be about to use it.
                channel = _open_channel(target)
                self._channels.append(channel)
                self._stub = TrainerServiceStub(
                    channel.channel if isinstance(channel, SocketChannel) else channel
                )
                self._target = target
            return self._stub, (("authorization", f"Bearer {target.token}"),)


def backoff_delays_s() -> Iterator[float]:
    """Yield the exponentially growing delays before further attempts, without end."""
    delay_s = _INITIAL_BACKOFF_S
    while True:
        yield delay_s
        delay_s = min(delay_s * 2, _MAX_BACKOFF_S)


def _open_channel(target: ConnectionTarget) -> "grpc.Channel | SocketChannel":
    if target.address.startswith(SOCKET_SCHEME):
        identity = target.identity or DaemonIdentity(owner=os.geteuid())
        return SocketChannel(target.address, identity, _OPTIONS)
    if target.certificate is None:
        return grpc.insecure_channel(target.address, options=_OPTIONS)
    credentials = grpc.ssl_channel_credentials(root_certificates=target.certificate)
    return grpc.secure_channel(target.address, credentials, options=_OPTIONS)
