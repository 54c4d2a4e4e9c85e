"""How the event loop runs blocking work (files, SQLite, processes) on threads."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_quick = ThreadPoolExecutor(64, thread_name_prefix="blocking")
# Separate, so that a hundred workers that do not end never delay a query about one of them.
_long = ThreadPoolExecutor(1024, thread_name_prefix="waiting")


async def run_in_thread(
    call: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """The result of `call`, which runs on another thread and cannot be interrupted.

    For calls of milliseconds: all callers share these threads.
    """
    return await asyncio.get_running_loop().run_in_executor(_quick, partial(call, *args, **kwargs))


async def run_in_long_thread(
    call: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """The same for calls of seconds or hours: stopping, installing, describing, importing."""
    return await asyncio.get_running_loop().run_in_executor(_long, partial(call, *args, **kwargs))


Resource = TypeVar("Resource")


async def shielded(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which runs to its end even if the caller is cancelled.

    A client's timeout never leaves a run half paused or half deleted.
    """
    return await asyncio.shield(asyncio.ensure_future(work))


class ThreadBound(Generic[Resource]):
    """Uses `resource` on threads, one call at a time, and closes it with `close`.

    A call on a thread cannot be interrupted: when its stream is cancelled, closing waits for it.
    """

    def __init__(self, resource: Resource, close: Callable[[], None]) -> None:
        self.resource = resource
        self._close = close
        self._call: asyncio.Future[Any] | None = None

    async def run(
        self,
        call: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """The result of `call`, which may use the resource."""
        running = asyncio.ensure_future(run_in_thread(call, *args, **kwargs))
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
                self._call.exception()  # reported by `run`, unless its caller was cancelled
        await run_in_thread(self._close)
