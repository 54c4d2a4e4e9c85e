"""The edge of every call: errors become statuses here, and nowhere else.

`server.py` puts it around all services. It also ends the streams when the daemon stops, so that
clients hear of it at once and can look for the next daemon.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, NoReturn, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from mosaic.trainer.service.errors import DaemonStoppingError, Refusal, refusal_of
from mosaic.trainer.service.partial_servicer import Context
from mosaic.trainer.service.request_checks import BadRequestError

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Continuation: TypeAlias = Callable[
    [grpc.HandlerCallDetails], "Awaitable[grpc.RpcMethodHandler[Any, Any] | None]"
]


class _Malformed:
    """Stands for a request that is no message of its type."""


class CallEdge(grpc.aio.ServerInterceptor):
    """Wraps each method once; `redact` takes secrets out of what clients are told."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._wrapped: dict[str, Handler] = {}
        self._streams: set[asyncio.Task[Any]] = set()
        self._stopping = False

    def end_streams(self) -> None:
        """Ends all open streams, and every one that is still to come, with UNAVAILABLE."""
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
        read, write = _reading(handler.request_deserializer), handler.response_serializer
        if handler.unary_unary is not None:
            behave = self._unary(handler.unary_unary)
            return grpc.unary_unary_rpc_method_handler(behave, read, write)
        if handler.stream_unary is not None:
            behave = self._unary(handler.stream_unary)
            return grpc.stream_unary_rpc_method_handler(behave, read, write)
        if handler.unary_stream is not None:
            stream = self._streaming(handler.unary_stream)
            return grpc.unary_stream_rpc_method_handler(stream, read, write)
        if handler.stream_stream is not None:
            stream = self._streaming(handler.stream_stream)
            return grpc.stream_stream_rpc_method_handler(stream, read, write)
        raise TypeError("a method streams in one direction, in both or in none")

    def _unary(self, behaviour: Callable[..., Any]) -> Any:
        async def behave(request: Any, context: Context) -> Any:
            try:
                return await behaviour(_well_formed(request), context)
            except grpc.aio.AbortError:
                raise
            except Exception as error:  # noqa: BLE001 - the edge: the daemon stays up
                await self._refuse(context, error)

        return behave

    def _streaming(self, behaviour: Callable[..., Any]) -> Any:
        async def behave(request: Any, context: Context) -> None:
            task = asyncio.current_task()
            assert task is not None  # noqa: S101 - a coroutine of the server runs in a task
            self._streams.add(task)
            try:
                if self._stopping:
                    raise DaemonStoppingError  # noqa: TRY301 - told like any other error
                await _send_all(behaviour(_well_formed(request), context), context)
            except grpc.aio.AbortError:
                raise
            except asyncio.CancelledError:
                if not self._stopping or context.cancelled():
                    raise
                task.uncancel()
                await self._refuse(context, DaemonStoppingError())
            except Exception as error:  # noqa: BLE001 - the edge: the daemon stays up
                await self._refuse(context, error)
            finally:
                self._streams.discard(task)

        return behave

    async def _refuse(self, context: Context, error: Exception) -> NoReturn:
        await abort(context, refusal_of(error, self._redact))


async def abort(context: Context, refusal: Refusal) -> NoReturn:
    """Ends the call."""
    await context.abort(refusal.status, refusal.message, refusal.metadata)


async def _send_all(responses: Any, context: Context) -> None:
    """Each is sent when the client has room for it; a slow one makes its stream wait, no other."""
    if not isinstance(responses, AsyncIterator):
        await responses  # it writes by itself, as the health service does
        return
    async with aclosing(responses) as messages:  # type: ignore[type-var]
        async for message in messages:
            await context.write(message)


def _reading(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    if deserialize is None:
        return None

    def read(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return _Malformed()

    return read


def _well_formed(request: Any) -> Any:
    if isinstance(request, _Malformed):
        raise BadRequestError(
            "request",
            "is not a message of this call's type.",
            "Use a client of the same version as the daemon.",
        )
    if isinstance(request, AsyncIterator):
        return _each_well_formed(request)
    return request


async def _each_well_formed(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield _well_formed(request)
