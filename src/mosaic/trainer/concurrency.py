"""The one way from the event loop to blocking work: files, SQLite, processes."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

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
