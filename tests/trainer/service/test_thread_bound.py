"""Resources used in threads of the event loop are closed once, and never while in use."""

import asyncio
import threading

import pytest

from mosaic.trainer.concurrency import ThreadBound


def test_cancelled_during_a_call() -> None:
    """The resource is closed after the call in the thread has finished."""
    entered, leave = threading.Event(), threading.Event()
    events: list[str] = []

    def slow() -> None:
        entered.set()
        leave.wait(60)
        events.append("used")

    async def use() -> None:
        async with ThreadBound(None, lambda: events.append("closed")) as bound:
            await bound.run(slow)

    async def main() -> None:
        task = asyncio.create_task(use())
        await asyncio.to_thread(entered.wait, 60)
        task.cancel()
        await asyncio.sleep(0)
        leave.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert events == ["used", "closed"]


def test_an_error_in_a_call_is_raised_and_the_resource_is_closed() -> None:
    """The caller gets the original exception."""
    closed: list[bool] = []

    async def use() -> None:
        async with ThreadBound(None, lambda: closed.append(True)) as bound:
            await bound.run(int, "not a number")

    with pytest.raises(ValueError, match="not a number"):
        asyncio.run(use())
    assert closed == [True]
