"""CallInterceptor: turns the errors of all calls into gRPC statuses.

`server.py` installs it for all services. It also ends the streams when the daemon stops, so that
clients notice at once and can connect to the next daemon.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, NoReturn, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from mosaic.trainer.service.errors import RpcError, daemon_stopping, to_rpc_error
from mosaic.trainer.service.partial_servicer import Context
from mosaic.trainer.service.request_checks import BadRequestError
from mosaic.trainer.service.response_redaction import ResponseRedactor

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Continuation: TypeAlias = Callable[
    [grpc.HandlerCallDetails], "Awaitable[grpc.RpcMethodHandler[Any, Any] | None]"
]


class _Malformed:
    """Placeholder for a request that cannot be decoded."""


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Wraps each method once; `redact` removes secrets from errors, `responses` from responses."""

    def __init__(self, redact: Callable[[str], str], responses: ResponseRedactor) -> None:
        self._redact = redact
        self._responses = responses
        self._wrapped: dict[str, Handler] = {}
        self._streams: set[asyncio.Task[Any]] = set()
        self._stopping = False

    def end_streams(self) -> None:
        """End all open and all future streams with UNAVAILABLE."""
        self._stopping = True
        for task in self._streams:
            task.cancel()

    async def intercept_service(
        self,
        continuation: Continuation,
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler | None":
        method = handler_call_details.method
        if method not in self._wrapped:
            handler = await continuation(handler_call_details)
            if handler is None:
                return None
            self._wrapped[method] = self._wrap(handler)
        return self._wrapped[method]

    def _wrap(self, handler: Handler) -> Handler:
        read = _wrap_deserializer(handler.request_deserializer)
        write = self._wrap_serializer(handler.response_serializer)
        if handler.unary_unary is not None:
            behave = self._wrap_unary(handler.unary_unary)
            return grpc.unary_unary_rpc_method_handler(behave, read, write)
        if handler.stream_unary is not None:
            behave = self._wrap_unary(handler.stream_unary)
            return grpc.stream_unary_rpc_method_handler(behave, read, write)
        if handler.unary_stream is not None:
            stream = self._wrap_streaming(handler.unary_stream)
            return grpc.unary_stream_rpc_method_handler(stream, read, write)
        if handler.stream_stream is not None:
            stream = self._wrap_streaming(handler.stream_stream)
            return grpc.stream_stream_rpc_method_handler(stream, read, write)
        raise TypeError("a method streams in one direction, in both or in none")

    def _wrap_serializer(
        self, serialize: Callable[[Any], bytes] | None
    ) -> Callable[[Any], bytes] | None:
        if serialize is None:
            return None
        return lambda message: self._responses.serialize(message, serialize)

    def _wrap_unary(self, method: Callable[..., Any]) -> Any:
        async def behave(request: Any, context: Context) -> Any:
            try:
                return await method(_check_well_formed(request), context)
            except grpc.aio.AbortError:
                raise
            except Exception as error:  # noqa: BLE001 - one failed call must not stop the daemon
                await self._abort(context, error)

        return behave

    def _wrap_streaming(self, method: Callable[..., Any]) -> Any:
        async def behave(request: Any, context: Context) -> None:
            task = asyncio.current_task()
            assert task is not None  # noqa: S101 - a coroutine of the server runs in a task
            self._streams.add(task)
            try:
                if self._stopping:
                    raise daemon_stopping()  # noqa: TRY301 - reported like any other error
                await _send_all(method(_check_well_formed(request), context), context)
            except grpc.aio.AbortError:
                raise
            except asyncio.CancelledError:
                if not self._stopping or context.cancelled():
                    raise
                task.uncancel()
                await self._abort(context, daemon_stopping())
            except Exception as error:  # noqa: BLE001 - one failed call must not stop the daemon
                await self._abort(context, error)
            finally:
                self._streams.discard(task)

        return behave

    async def _abort(self, context: Context, error: Exception) -> NoReturn:
        await abort(context, to_rpc_error(error, self._redact))


async def abort(context: Context, rpc_error: RpcError) -> NoReturn:
    """End the call with this status."""
    await context.abort(rpc_error.status, rpc_error.message, rpc_error.metadata)


async def _send_all(responses: Any, context: Context) -> None:
    """Send each message when the client is ready; a slow client delays only its own stream."""
    if not isinstance(responses, AsyncIterator):
        await responses  # it writes its messages itself, as the health service does
        return
    async with aclosing(responses) as messages:  # type: ignore[type-var]
        async for message in messages:
            await context.write(message)


def _wrap_deserializer(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    if deserialize is None:
        return None

    def read(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return _Malformed()

    return read


def _check_well_formed(request: Any) -> Any:
    if isinstance(request, _Malformed):
        raise BadRequestError(
            "request",
            "cannot be decoded.",
            "Use a client of the same version as the daemon.",
        )
    if isinstance(request, AsyncIterator):
        return _check_each_well_formed(request)
    return request


async def _check_each_well_formed(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield _check_well_formed(request)
