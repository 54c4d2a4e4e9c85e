"""The one way from the event loop to blocking work: files, SQLite, processes."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_quick = ThreadPoolExecutor(64, thread_name_prefix="blocking")
# Apart, so that a hundred workers that refuse to end never hold up a question about one of them.
_long = ThreadPoolExecutor(1024, thread_name_prefix="waiting")


async def in_thread(
    call: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """The result of `call`, which runs on another thread and is not interrupted once it began.

    For what takes milliseconds: everybody shares these threads.
    """
    return await asyncio.get_running_loop().run_in_executor(_quick, partial(call, *args, **kwargs))


async def in_long_thread(
    call: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """The same for what may take seconds or hours: ending, installing, describing, importing."""
    return await asyncio.get_running_loop().run_in_executor(_long, partial(call, *args, **kwargs))


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
