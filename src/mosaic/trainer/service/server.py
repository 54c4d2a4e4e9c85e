"""The gRPC server: token first, limits, our service and the standard health service.

Created in two steps by `mosaic.trainer.daemon`: the address is bound before anything else happens,
and the trainer is served once it is open. There is no reflection. The access token is new at each
start and checked on every call; only the owner of the home can read its file.
"""

import hmac
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.rpc import trainer_pb2
from mosaic.contract.rpc.trainer_pb2_grpc import add_TrainerServiceServicer_to_server
from mosaic.trainer.service.call_interceptor import CallInterceptor, Continuation, Handler, abort
from mosaic.trainer.service.errors import RpcError, to_rpc_error, wrong_token
from mosaic.trainer.service.partial_servicer import Context
from mosaic.trainer.service.response_redaction import ResponseRedactor
from mosaic.trainer.service.servicer import TrainerServicer
from mosaic.trainer.trainer import Trainer

SERVICE_NAME = trainer_pb2.DESCRIPTOR.services_by_name["TrainerService"].full_name
MAX_REQUEST_BYTES = 4 << 20
_MAX_CALLS = 4_000
_STOP_GRACE_S = 2.0
_TOKEN_BYTES = 32
_KEY = "authorization"
_SCHEME = b"Bearer "

_OPTIONS: tuple[tuple[str, int], ...] = (
    # Otherwise two daemons could share a port, and each would get half of the calls.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_concurrent_streams", 1_000),
    # A peer that disappears silently (a suspended laptop) keeps its streams no longer than this.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.max_ping_strikes", 0),
)


class TrainerServer:
    """One server, from binding its address to its end."""

    def __init__(self, token: str, redact: Callable[[str], str]) -> None:
        self._trainer: Trainer | None = None
        self._interceptor = CallInterceptor(redact, ResponseRedactor(self._spellings))
        self._server = grpc.aio.server(
            interceptors=(TokenCheck(token), self._interceptor),
            options=_OPTIONS,
            maximum_concurrent_rpcs=_MAX_CALLS,
        )
        self._health = health.aio.HealthServicer()
        self._servicer: TrainerServicer | None = None

    def bind(self, address: str, credentials: grpc.ServerCredentials | None) -> int:
        """Bind the address and return the port. Raises RuntimeError when it is in use."""
        if credentials is None:
            return self._server.add_insecure_port(address)
        return self._server.add_secure_port(address, credentials)

    async def serve(self, trainer: Trainer, *, address: str, shut_down: Callable[[], None]) -> None:
        """Start answering calls."""
        self._trainer = trainer
        self._servicer = TrainerServicer(trainer, address=address, shut_down=shut_down)
        add_TrainerServiceServicer_to_server(self._servicer, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        for service in ("", SERVICE_NAME):
            await self._health.set(service, health_pb2.HealthCheckResponse.SERVING)
        await self._server.start()

    def _spellings(self) -> Mapping[str, str]:
        """Every text that no response may contain."""
        return {} if self._trainer is None else self._trainer.secrets.spellings()

    async def stop(self, grace_s: float = _STOP_GRACE_S) -> None:
        """End streams at once; other calls have `grace_s` to finish."""
        await self._health.enter_graceful_shutdown()
        if self._servicer is not None:
            self._servicer.cancel_installations()
        self._interceptor.end_streams()
        await self._server.stop(grace_s)


def issue_token(path: Path) -> str:
    """Create a token and replace the file; earlier tokens are not valid any more."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    try:
        # Creates a file with mode 0600 and renames it: a link in its place is replaced.
        write_atomically(path, f"{token}\n".encode())
    except UserError as error:
        raise UserError(
            f"The token {error.message}",
            remedy="Remove it, and make its folder writable for this user.",
            code="T384",
        ) from error
    return token


class TokenCheck(grpc.aio.ServerInterceptor):
    """Rejects every call without the token. Must be the first interceptor."""

    def __init__(self, token: str) -> None:
        self._expected = _SCHEME + token.encode()
        self._reject_handler = _make_reject_handler(to_rpc_error(wrong_token(), lambda text: text))

    async def intercept_service(
        self,
        continuation: Continuation,
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler | None":
        sent = [value for key, value in handler_call_details.invocation_metadata if key == _KEY]
        if len(sent) == 1 and hmac.compare_digest(_as_bytes(sent[0]), self._expected):
            return await continuation(handler_call_details)
        return self._reject_handler


def _as_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode(errors="surrogateescape")


def _make_reject_handler(rpc_error: RpcError) -> Handler:
    """A bidirectional stream handler: it fits any call, and does not read the request."""

    async def reject(_: Any, context: Context) -> None:
        await abort(context, rpc_error)

    return grpc.stream_stream_rpc_method_handler(reject)
