"""The one way from the event loop to blocking work: files, SQLite, processes."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_THREADS = 64
"""Ending a worker holds a thread for as long as the worker takes, and many may be ended at once."""

_pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="blocking")


async def in_thread(
    call: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """The result of `call`, which runs on another thread and is not interrupted once it began."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_pool, partial(call, *args, **kwargs))
