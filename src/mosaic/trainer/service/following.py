"""Rounds: look, send, wait for the next commit, look again, until the run is over.

All streams of a run's store are made of this. Nothing is buffered for anyone: a client that is slow
makes its own next look wait, and finds everything in the store.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Generic, NamedTuple, TypeVar

from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.concurrency import ThreadBound
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.service.errors import RunDeletedError
from mosaic.trainer.service.partial_servicer import existing_run
from mosaic.trainer.service.store_view import StoreView
from mosaic.trainer.trainer import Trainer

Message = TypeVar("Message")

DEFAULT_INTERVAL_S = 0.1
"""The tail of a store is written again at each commit, many times a second."""
LOOK_ANYWAY_S = 1.0


class Batch(NamedTuple, Generic[Message]):
    """What one look found."""

    messages: list[Message]
    there_is_more: bool
    """So the next look comes at once."""


async def follow_store(
    trainer: Trainer,
    run_id: str,
    read: Callable[[TelemetryReader], Batch[Message]],
    *,
    follow: bool,
    min_interval_s: float,
) -> AsyncIterator[Message]:
    """All that `read` finds, now and, with `follow`, until the run is over and all is read.

    `read` runs on other threads, one call at a time, and moves its own cursor.
    """
    view = StoreView(await existing_run(trainer, run_id))
    loop = asyncio.get_running_loop()
    async with ThreadBound(view, view.close) as bound:
        with trainer.commits.listen(run_id) as committed:
            while True:
                committed.clear()
                began = loop.time()
                was_over, batch = await bound.run(_look, trainer, run_id, view, read)
                for message in batch.messages:
                    yield message
                if batch.there_is_more:
                    continue
                if was_over or not follow:
                    return
                if batch.messages:  # who has got nothing yet does not wait to get the first
                    await asyncio.sleep(began + min_interval_s - loop.time())
                await changed_or_after(committed, LOOK_ANYWAY_S)


def _look(
    trainer: Trainer,
    run_id: str,
    view: StoreView,
    read: Callable[[TelemetryReader], Batch[Message]],
) -> tuple[bool, Batch[Message]]:
    # Asked before reading: what was stored before the end is read after it.
    was_over = is_over(trainer, run_id)
    return was_over, view.read(read) or Batch([], there_is_more=False)


def is_over(trainer: Trainer, run_id: str) -> bool:
    """Whether no more will come of a run that somebody reads."""
    if trainer.dispatcher.is_going(run_id):
        return False
    try:
        return trainer.registry.get(run_id).state.is_final
    except UnknownRunError:
        raise RunDeletedError(run_id) from None


async def changed_or_after(changed: asyncio.Event, longest_s: float) -> None:
    """Waits for the event, but not for ever: a signal may be lost with the process that sent it."""
    try:
        async with asyncio.timeout(longest_s):
            await changed.wait()
    except TimeoutError:
        pass
