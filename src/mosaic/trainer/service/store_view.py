"""StoreView: a run's store for queries, opened once it exists; `follow_store` for streams.

Errors of the file system and of SQLite become `UserError`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Generic, Literal, NamedTuple, Self, TypeVar

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.chunks import StoredChunk
from mosaic.telemetry.errors import (
    PROGRAMMING_ERRORS,
    RETRYABLE_ERRORS,
    fault_from_error,
    report_damage,
)
from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.concurrency import ThreadBound
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.service.errors import run_deleted, unsafe_file
from mosaic.trainer.service.partial_servicer import existing_run
from mosaic.trainer.trainer import Trainer

Result = TypeVar("Result")
Message = TypeVar("Message")

DEFAULT_INTERVAL_S = 0.1
"""The tail of a store is written again at each commit, many times a second."""
POLL_S = 1.0

Lane = Literal["step", "metric"]


class StoreView:
    """One user at a time, on any thread."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._reader: TelemetryReader | None = None
        self._inode = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def read(self, query: Callable[[TelemetryReader], Result]) -> Result | None:
        """The result of `query`; None while nothing is stored."""
        try:
            reader = self._opened()
            if reader is None:
                return None
            with report_damage():
                return query(reader)
        except RETRYABLE_ERRORS as error:
            if isinstance(error, PROGRAMMING_ERRORS):
                raise
            self.close()
            raise _unreadable(self._run, error) from error

    def _opened(self) -> TelemetryReader | None:
        """A damaged store is set aside and rebuilt from the spool: open the new one then."""
        if self._run.store.is_symlink():
            raise unsafe_file(self._run.run_id, self._run.store.name)
        try:
            inode = self._run.store.stat().st_ino
        except FileNotFoundError:
            inode = 0
        if self._reader is not None and inode == self._inode:
            return self._reader
        self.close()
        self._inode = inode
        try:
            self._reader = TelemetryReader(self._run)
        except UserError as error:
            if error.code != "T210":  # nothing stored yet
                raise
        return self._reader


def newest_chunk(reader: TelemetryReader, lane: Lane, after: int) -> StoredChunk | None:
    """The last chunk, if it has lines after `after`."""
    newest = reader.newest_chunk(lane)
    return newest if newest and newest.first_seq + newest.lines - 1 > after else None


def _unreadable(run: RunDirectory, error: BaseException) -> UserError:
    fault = fault_from_error(error)
    return UserError(
        f"The store of run {run.run_id} cannot be read: {fault.message}.",
        remedy=fault.remedy,
        code="T372",
    )


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
