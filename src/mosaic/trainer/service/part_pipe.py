"""PartPipe: what a client sends piece by piece, as an iterator for a thread that blocks."""

import asyncio
import queue
from collections.abc import AsyncIterator, Iterator

from mosaic.contract.errors import UserError

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
