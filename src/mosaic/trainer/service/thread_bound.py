"""Things that one thread at a time may use, used from the event loop.

A call on another thread cannot be interrupted. When its stream is cancelled meanwhile, the thing
must not be closed under its hands: closing waits for it.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

from mosaic.trainer.concurrency import in_thread

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Thing = TypeVar("Thing")


class ThreadBound(Generic[Thing]):
    """Owns `thing` and closes it with `close`, both on threads that may block."""

    def __init__(self, thing: Thing, close: Callable[[], None]) -> None:
        self.thing = thing
        self._close = close
        self._call: asyncio.Future[Any] | None = None

    async def run(
        self,
        call: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """The result of `call`, which may use the thing. One call at a time."""
        running = asyncio.ensure_future(in_thread(call, *args, **kwargs))
        self._call = running
        return await asyncio.shield(running)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._call is not None:
            await asyncio.wait({self._call})
            if not self._call.cancelled():
                self._call.exception()  # told to whoever called, or to nobody who still cares
        await in_thread(self._close)
