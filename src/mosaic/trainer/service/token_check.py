"""The token that every call must carry, whatever it calls."""

import hmac
from typing import Any

import grpc

from mosaic.trainer.service.call_edge import Continuation, Handler, abort
from mosaic.trainer.service.error_mapping import Refusal, refusal_of
from mosaic.trainer.service.refusals import WrongTokenError
from mosaic.trainer.service.service_part import Context

_KEY = "authorization"
_SCHEME = b"Bearer "


class TokenCheck(grpc.aio.ServerInterceptor):
    """Lets nothing pass without the token; first of all interceptors."""

    def __init__(self, token: str) -> None:
        self._expected = _SCHEME + token.encode()
        self._refusing = _handler_that_refuses(refusal_of(WrongTokenError(), lambda text: text))

    async def intercept_service(
        self,
        continuation: Continuation,
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler | None":
        sent = [value for key, value in handler_call_details.invocation_metadata if key == _KEY]
        if len(sent) == 1 and hmac.compare_digest(_as_bytes(sent[0]), self._expected):
            return await continuation(handler_call_details)
        return self._refusing


def _as_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode(errors="surrogateescape")


def _handler_that_refuses(refusal: Refusal) -> Handler:
    """Of streams in both directions: it fits any call, and reads nothing of the request."""

    async def refuse(_: Any, context: Context) -> None:
        await abort(context, refusal)

    return grpc.stream_stream_rpc_method_handler(refuse)
