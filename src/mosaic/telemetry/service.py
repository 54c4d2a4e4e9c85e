"""TelemetryService: the one writer of a run's store.

It follows the spool and commits rows and offset in one transaction. Whatever is killed, and
whenever: the next one starts at the committed offset, so that every complete line is in the store
exactly once. What the world does to it (a full disk, a lock, damage) becomes a state with a remedy;
it tries again by itself and goes on when the cause is gone.
"""

import logging
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import msgspec

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry import counters, database
from mosaic.telemetry.failures import (
    BUGS,
    WORLD_ERRORS,
    AnotherWriterError,
    Blockage,
    blockage_of,
)
from mosaic.telemetry.intake import LineIntake
from mosaic.telemetry.spool import Block, OversizeLine, SpoolReader

_log = logging.getLogger(__name__)

# Each commit rewrites the tails, so a slow spool fills the log too: both are counted.
_CHECKPOINT_EVERY_BYTES = 4 << 20
_CHECKPOINT_EVERY_COMMITS = 150
_FIRST_RETRY_S = 0.25
_LAST_RETRY_S = 5.0


class IngestStatus(msgspec.Struct, frozen=True):
    """How far ingest is, and what keeps it from going on, if anything."""

    committed_bytes: int
    spool_bytes: int
    steps: int
    blockage: Blockage | None

    @property
    def is_behind(self) -> bool:
        return self.committed_bytes < self.spool_bytes


class _OpenStore:
    """The store while it is open, and all that ingest holds in memory about it.

    All of that is made from the store, so that after a failure it is thrown away and made again.
    """

    def __init__(self, run: RunDirectory) -> None:
        self.connection = database.open_for_writing(run.store)
        try:
            self._file = run.store.lstat()
            self.tally = counters.Counters(self.connection)
            self.intake = LineIntake(run, self.connection, self.tally)
            self.spool = SpoolReader(run.spool, self.tally[counters.OFFSET])
        except BaseException:
            self.connection.close()
            raise

    def take(self, piece: Block | OversizeLine) -> None:
        """Commit one piece of the spool: its rows, and the offset behind it."""
        self.connection.execute("BEGIN IMMEDIATE")
        self._expect_no_other_writer()
        if isinstance(piece, Block):
            self.intake.take_block(piece)
        else:
            self.intake.take_oversize(piece, self.spool)
        self.intake.flush()
        self.tally[counters.OFFSET] = piece.end
        self.tally.flush()
        self.connection.execute("COMMIT")
        self.spool.advance(piece.end)

    def is_in_place(self, path: Path) -> bool:
        """Whether the file that was opened is still the one at `path`."""
        try:
            return os.path.samestat(self._file, path.lstat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        self.spool.close()
        self.intake.close()
        self.connection.close()

    def _expect_no_other_writer(self) -> None:
        committed = counters.read_counters(self.connection).get(counters.OFFSET, 0)
        if committed != self.tally[counters.OFFSET]:
            raise AnotherWriterError("another process has stored lines of this run meanwhile")


class TelemetryService:
    """Ingests one run's spool. Not thread-safe: one caller at a time."""

    def __init__(self, run: RunDirectory, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._clock = clock
        self._store: _OpenStore | None = None
        self._blockage: Blockage | None = None
        self._retry_at = 0.0
        self._retry_delay_s = _FIRST_RETRY_S
        self._bytes_since_checkpoint = 0
        self._commits_since_checkpoint = 0
        self._committed = 0
        self._steps = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ingest(self) -> int:
        """Commit the next piece of the spool, at most about 1 MiB; how many bytes that were.

        0 means that there is nothing whole to take, or that something is in the way (`status`).
        """
        return self._guarded(lambda store: store.spool.read())

    def finish(self) -> bool:
        """Commit all that is left, also a last line without its newline. True when all is in.

        Only for a spool whose writers are gone.
        """
        while self.ingest():
            pass
        self._guarded(lambda store: store.spool.read_unterminated())
        status = self.status()
        return status.blockage is None and not status.is_behind

    def status(self) -> IngestStatus:
        try:
            spool_bytes = self._run.spool.stat().st_size if self._run.spool.is_file() else 0
        except OSError:
            spool_bytes = 0
        return IngestStatus(self._committed, spool_bytes, self._steps, self._blockage)

    def close(self) -> None:
        """Let go of the store. What was committed stays; the rest is still in the spool."""
        if self._store is None:
            return
        try:
            self._store.connection.rollback()
            self._checkpoint(self._store, "TRUNCATE")
        except sqlite3.Error as error:
            _log.warning("T202 last checkpoint of %s left out: %s", self._run.run_id, error)
        self._store.close()
        self._store = None

    def _guarded(self, read: Callable[[_OpenStore], Block | OversizeLine | None]) -> int:
        """One step of ingest, in which the world may fail."""
        if self._blockage is not None and self._clock() < self._retry_at:
            return 0
        try:
            store = self._opened()
            self._note_progress(store)
            piece = read(store)
            if piece is not None:
                store.take(piece)
                self._note_progress(store)
                self._checkpoint_when_due(store, piece.end - piece.start)
        except BUGS:
            raise
        except WORLD_ERRORS as error:
            self._block(error)
            return 0
        self._unblock()
        return piece.end - piece.start if piece is not None else 0

    def _opened(self) -> _OpenStore:
        if self._store is not None and not self._store.is_in_place(self._run.store):
            self._store.close()
            self._store = None
        if self._store is None:
            self._store = _OpenStore(self._run)
        return self._store

    def _note_progress(self, store: _OpenStore) -> None:
        self._committed = store.spool.offset
        self._steps = store.tally[counters.STEPS]

    def _checkpoint_when_due(self, store: _OpenStore, size: int) -> None:
        self._bytes_since_checkpoint += size
        self._commits_since_checkpoint += 1
        if (
            self._bytes_since_checkpoint >= _CHECKPOINT_EVERY_BYTES
            or self._commits_since_checkpoint >= _CHECKPOINT_EVERY_COMMITS
        ):
            self._bytes_since_checkpoint = self._commits_since_checkpoint = 0
            self._checkpoint(store, "PASSIVE")

    def _checkpoint(self, store: _OpenStore, mode: str) -> None:
        row = store.connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        _log.info("T201 checkpoint of %s: (busy, log, checkpointed) = %s", self._run.run_id, row)

    def _block(self, error: BaseException) -> None:
        blockage = blockage_of(error)
        if self._blockage is None or self._blockage.obstacle != blockage.obstacle:
            _log.warning(
                "T204 ingest of %s waits: %s: %s %s",
                self._run.run_id,
                blockage.obstacle,
                blockage.message,
                blockage.remedy,
            )
            self._retry_delay_s = _FIRST_RETRY_S
        self._blockage = blockage
        self._retry_at = self._clock() + self._retry_delay_s
        self._retry_delay_s = min(self._retry_delay_s * 2, _LAST_RETRY_S)
        if self._store is not None:
            self._store.close()
            self._store = None

    def _unblock(self) -> None:
        if self._blockage is not None:
            _log.info("T205 ingest of %s goes on", self._run.run_id)
            self._blockage = None
            self._retry_delay_s = _FIRST_RETRY_S
