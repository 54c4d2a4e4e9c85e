"""Following a run's store: read, send, wait for the next commit, until the run is finished.

All streams of a store use this. Nothing is buffered: a slow client delays its own next read, and
finds everything in the store.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Generic, NamedTuple, TypeVar

from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.concurrency import ThreadBound
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.service.errors import run_deleted
from mosaic.trainer.service.partial_servicer import existing_run
from mosaic.trainer.service.store_view import StoreView
from mosaic.trainer.trainer import Trainer

Message = TypeVar("Message")

DEFAULT_INTERVAL_S = 0.1
"""The tail of a store is written again at each commit, many times a second."""
POLL_S = 1.0


class MessageBatch(NamedTuple, Generic[Message]):
    """The messages of one read."""

    messages: list[Message]
    has_more: bool
    """Then the next read follows without waiting."""


async def follow_store(
    trainer: Trainer,
    run_id: str,
    read: Callable[[TelemetryReader], MessageBatch[Message]],
    *,
    follow: bool,
    min_interval_s: float,
) -> AsyncIterator[Message]:
    """All messages of `read`; with `follow` until the run is finished and everything is read.

    `read` runs on other threads, one call at a time, and moves its own cursor.
    """
    view = StoreView(await existing_run(trainer, run_id))
    loop = asyncio.get_running_loop()
    async with ThreadBound(view, view.close) as bound:
        with trainer.commits.listen(run_id) as committed:
            while True:
                committed.clear()
                began = loop.time()
                was_finished, batch = await bound.run(_read_next, trainer, run_id, view, read)
                for message in batch.messages:
                    yield message
                if batch.has_more:
                    continue
                if was_finished or not follow:
                    return
                if batch.messages:  # the first message is never delayed
                    await asyncio.sleep(began + min_interval_s - loop.time())
                await wait_for_change(committed, POLL_S)


def _read_next(
    trainer: Trainer,
    run_id: str,
    view: StoreView,
    read: Callable[[TelemetryReader], MessageBatch[Message]],
) -> tuple[bool, MessageBatch[Message]]:
    # Checked before reading: what was stored before the end is read after it.
    was_finished = is_finished(trainer, run_id)
    return was_finished, view.read(read) or MessageBatch([], has_more=False)


def is_finished(trainer: Trainer, run_id: str) -> bool:
    """Whether nothing more will be written for a run that is being read."""
    if trainer.dispatcher.is_running(run_id):
        return False
    try:
        return trainer.registry.get(run_id).state.is_final
    except UnknownRunError:
        raise run_deleted(run_id) from None


async def wait_for_change(changed: asyncio.Event, timeout_s: float) -> None:
    """Wait for the event or the timeout: a signal may be lost with the process that sent it."""
    try:
        async with asyncio.timeout(timeout_s):
            await changed.wait()
    except TimeoutError:
        pass
