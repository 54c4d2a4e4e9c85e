"""What clients send in parts: checked as it arrives, and taken in on a thread."""

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol, TypeVar

from mosaic.contract.errors import UserError
from mosaic.trainer.concurrency import in_thread
from mosaic.trainer.service.errors import InterruptedTransferError
from mosaic.trainer.service.request_checks import BadRequestError

_PARTS_AHEAD = 4


class PartPipe:
    """A few parts at most are held, whoever is faster."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Semaphore(_PARTS_AHEAD)
        self._parts: queue.SimpleQueue[bytes | UserError | None] = queue.SimpleQueue()

    async def feed(self, parts: AsyncIterator[bytes]) -> None:
        """Everything in `parts`, and then the end."""
        async for part in parts:
            await self._room.acquire()
            self._parts.put(part)
        self._parts.put(None)

    def break_off(self, reason: UserError) -> None:
        """The reader gets `reason` instead of the rest."""
        self._parts.put(reason)

    def __iter__(self) -> Iterator[bytes]:
        """For the thread. Ends when everything was fed."""
        while (part := self._parts.get()) is not None:
            if isinstance(part, UserError):
                raise part
            self._loop.call_soon_threadsafe(self._room.release)
            yield part


LARGEST_PART_BYTES = 1 << 20
_PATIENCE_S = 60.0

Result = TypeVar("Result")


class _WithData(Protocol):
    data: bytes


Part = TypeVar("Part", bound=_WithData)


async def taken_in(
    take: Callable[[Iterator[bytes]], Result], parts: AsyncIterator[bytes]
) -> Result:
    """The result of `take`, which gets `parts` on a thread.

    When they stop coming, it gets `InterruptedTransferError` instead of the rest, and has cleared
    up by the time this returns.
    """
    pipe = PartPipe()
    taking = asyncio.ensure_future(in_thread(take, iter(pipe)))
    feeding = asyncio.ensure_future(pipe.feed(parts))
    try:
        await asyncio.wait({taking, feeding}, return_when=asyncio.FIRST_COMPLETED)
        if not taking.done():
            await feeding
        return await asyncio.shield(taking)
    finally:
        if not taking.done():
            pipe.break_off(InterruptedTransferError("its sender stopped half way"))
            await asyncio.wait({taking})
            taking.exception()  # the first error is the one to tell
        feeding.cancel()
        await asyncio.wait({feeding})
        if not feeding.cancelled():
            feeding.exception()


async def checked_parts(received: AsyncIterator[Part]) -> AsyncIterator[Part]:
    """Each part as it comes, none of them too large, and none too late."""
    while True:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                part = await anext(received, None)
        except TimeoutError:
            raise InterruptedTransferError(f"nothing came for {_PATIENCE_S:.0f} s") from None
        if part is None:
            return
        if len(part.data) > LARGEST_PART_BYTES:
            raise BadRequestError(
                "data",
                f"has {len(part.data)} bytes.",
                f"Send parts of at most {LARGEST_PART_BYTES} bytes.",
            )
        yield part
