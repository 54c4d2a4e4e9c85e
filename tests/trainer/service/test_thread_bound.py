"""Things that threads use for the event loop: closed once, and never while in use."""

import asyncio
import threading

import pytest

from mosaic.trainer.concurrency import ThreadBound


def test_cancelled_in_the_middle_of_a_call() -> None:
    """The thing is closed when the call on its thread is over, not before."""
    entered, leave = threading.Event(), threading.Event()
    happened: list[str] = []

    def slow() -> None:
        entered.set()
        leave.wait(60)
        happened.append("used")

    async def use() -> None:
        async with ThreadBound(None, lambda: happened.append("closed")) as bound:
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
    assert happened == ["used", "closed"]


def test_an_error_in_a_call_comes_out_and_the_thing_is_closed() -> None:
    """As if it had been called directly."""
    closed: list[bool] = []

    async def use() -> None:
        async with ThreadBound(None, lambda: closed.append(True)) as bound:
            await bound.run(int, "no number")

    with pytest.raises(ValueError, match="no number"):
        asyncio.run(use())
    assert closed == [True]
