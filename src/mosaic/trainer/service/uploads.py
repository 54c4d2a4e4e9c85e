"""Uploads in parts: checked as they arrive, and processed on a thread."""

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol, TypeVar

from mosaic.contract.errors import UserError
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.service.errors import upload_interrupted
from mosaic.trainer.service.request_checks import BadRequestError

_PARTS_AHEAD = 4


class UploadPipe:
    """An upload as an iterator for a blocking thread. Holds at most a few parts."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._capacity = asyncio.Semaphore(_PARTS_AHEAD)
        self._parts: queue.SimpleQueue[bytes | UserError | None] = queue.SimpleQueue()

    async def feed(self, parts: AsyncIterator[bytes]) -> None:
        """Pass on all `parts`, then the end."""
        async for part in parts:
            await self._capacity.acquire()
            self._parts.put(part)
        self._parts.put(None)

    def fail(self, reason: UserError) -> None:
        """Raise `reason` in the reader instead of passing on the rest."""
        self._parts.put(reason)

    def __iter__(self) -> Iterator[bytes]:
        """For the thread. Ends when everything was passed on."""
        while (part := self._parts.get()) is not None:
            if isinstance(part, UserError):
                raise part
            self._loop.call_soon_threadsafe(self._capacity.release)
            yield part


MAX_PART_BYTES = 1 << 20
_TIMEOUT_S = 60.0

Result = TypeVar("Result")


class _WithData(Protocol):
    data: bytes


Part = TypeVar("Part", bound=_WithData)


async def receive_upload(
    handle: Callable[[Iterator[bytes]], Result], parts: AsyncIterator[bytes]
) -> Result:
    """The result of `handle`, which gets `parts` on a thread.

    When they stop arriving, its iterator raises T380, and it has cleaned up when this returns.
    """
    pipe = UploadPipe()
    handling = asyncio.ensure_future(run_in_thread(handle, iter(pipe)))
    feeding = asyncio.ensure_future(pipe.feed(parts))
    try:
        await asyncio.wait({handling, feeding}, return_when=asyncio.FIRST_COMPLETED)
        if not handling.done():
            await feeding
        return await asyncio.shield(handling)
    finally:
        if not handling.done():
            pipe.fail(upload_interrupted("its sender stopped before the end"))
            await asyncio.wait({handling})
            handling.exception()  # the first error is the one that is reported
        feeding.cancel()
        await asyncio.wait({feeding})
        if not feeding.cancelled():
            feeding.exception()


async def checked_parts(received: AsyncIterator[Part]) -> AsyncIterator[Part]:
    """Each part as it arrives. Raises `UserError` for one that is too large or too late."""
    while True:
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                part = await anext(received, None)
        except TimeoutError:
            raise upload_interrupted(f"nothing arrived for {_TIMEOUT_S:.0f} s") from None
        if part is None:
            return
        if len(part.data) > MAX_PART_BYTES:
            raise BadRequestError(
                "data",
                f"has {len(part.data)} bytes.",
                f"Send parts of at most {MAX_PART_BYTES} bytes.",
            )
        yield part
