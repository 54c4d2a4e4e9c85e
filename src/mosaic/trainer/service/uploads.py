"""What clients send in parts: checked as it arrives, and taken in on a thread."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol, TypeVar

from mosaic.trainer.concurrency import in_thread
from mosaic.trainer.service.part_pipe import PartPipe
from mosaic.trainer.service.refusals import InterruptedTransferError
from mosaic.trainer.service.request_checks import BadRequestError

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
