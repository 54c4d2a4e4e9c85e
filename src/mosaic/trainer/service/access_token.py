"""The access token of a daemon: new at each start, and checked on every call.

Only the owner of the home can read the file.
"""

import hmac
import secrets
from pathlib import Path
from typing import Any

import grpc

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.trainer.service.call_interceptor import Continuation, Handler, abort
from mosaic.trainer.service.errors import RpcError, to_rpc_error, wrong_token
from mosaic.trainer.service.partial_servicer import Context

_TOKEN_BYTES = 32


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


_KEY = "authorization"
_SCHEME = b"Bearer "


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
