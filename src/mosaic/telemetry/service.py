"""TelemetryService: the one writer of a run's store.

It follows the spool and commits rows and offset in one transaction. After a kill at any time, the
next service starts at the committed offset, so that every complete line is in the store exactly
once. System errors (a full disk, a lock, corruption) become a fault with a remedy; ingest retries
automatically and resumes when the cause is gone.
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
from mosaic.contract.regular_files import regular_size
from mosaic.telemetry import counters, database
from mosaic.telemetry.errors import (
    PROGRAMMING_ERRORS,
    RETRYABLE_ERRORS,
    AnotherWriterError,
    FaultKind,
    IngestFault,
    fault_from_error,
    report_damage,
)
from mosaic.telemetry.line_ingester import LineIngester
from mosaic.telemetry.spool import Block, OversizeLine, Piece, ScannedPart, SpoolReader

_log = logging.getLogger(__name__)

# Each commit rewrites the tails, so a slow spool fills the WAL too: both are counted.
_CHECKPOINT_EVERY_BYTES = 4 << 20
_CHECKPOINT_EVERY_COMMITS = 150
_DISPLACED = "telemetry.jsonl was removed or replaced; lines are read from the open file"
_MAX_WAL_BYTES = 64 << 20
_STUCK_READER = (
    "telemetry.db-wal has grown to {} MB because a program keeps an old state of telemetry.db open."
    " Close that program; `fuser telemetry.db` names it."
)
_MIN_RETRY_S = 0.25
_MAX_RETRY_S = 5.0


class IngestStatus(msgspec.Struct, frozen=True):
    """Progress of ingest, and the fault that it waits for, if any."""

    committed_bytes: int
    spool_bytes: int
    steps: int
    fault: IngestFault | None
    spool_problem: str = ""
    """What happened to the spool; the lines that were stored are not affected."""
    store_problem: str = ""
    """Why the store uses more disk space than it should."""

    @property
    def is_behind(self) -> bool:
        return self.committed_bytes < self.spool_bytes


class _OpenStore:
    """An open store, and the in-memory state of ingest.

    The state is derived from the store, so after a failure it is discarded and rebuilt.
    """

    def __init__(self, run: RunDirectory) -> None:
        self.connection = database.open_for_writing(run.store)
        try:
            self._file = run.store.lstat()
            self.counts = counters.Counters(self.connection)
            self.ingester = LineIngester(run, self.connection, self.counts)
            self.spool = SpoolReader(run, self.counts[counters.OFFSET])
        except BaseException:
            self.connection.close()
            raise

    def commit(self, piece: Block | OversizeLine) -> int:
        """Commit rows of one piece of the spool and their end offset, which is returned."""
        self.connection.execute("BEGIN IMMEDIATE")
        self._require_single_writer()
        end = piece.end
        if isinstance(piece, Block):
            end = self.ingester.ingest_block(piece)
        else:
            self.ingester.ingest_oversize(piece, self.spool)
        self.ingester.flush()
        self.counts[counters.OFFSET] = end
        self.counts.flush()
        self.connection.execute("COMMIT")
        self.spool.advance(end)
        return end

    def is_in_place(self, path: Path) -> bool:
        """Return whether the open file is still the one at `path`."""
        try:
            return os.path.samestat(self._file, path.lstat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        self.spool.close()
        self.ingester.close()
        self.connection.close()

    def _require_single_writer(self) -> None:
        committed = counters.read_counters(self.connection).get(counters.OFFSET, 0)
        if committed != self.counts[counters.OFFSET]:
            raise AnotherWriterError("another process has stored lines of this run")


class TelemetryService:
    """Ingests one run's spool. Not thread-safe: one caller at a time."""

    def __init__(self, run: RunDirectory, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._clock = clock
        self._store: _OpenStore | None = None
        self._fault: IngestFault | None = None
        self.has_more = False
        """Whether the last call of `ingest` left complete lines for the next one."""
        self._retry_at = 0.0
        self._retry_delay_s = _MIN_RETRY_S
        self._bytes_since_checkpoint = 0
        self._commits_since_checkpoint = 0
        self._committed = 0
        self._steps = 0
        self._spool_problem = ""
        self._store_problem = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ingest(self) -> int:
        """Commit the next piece of the spool, at most about 1 MiB; returns its size in bytes.

        0 means that there is no complete line, or that there is a fault (see `status`). Bounded
        work: of a line of any length, at most a part is searched for its end, and counts too.
        """
        return self._ingest_piece(lambda store: store.spool.read())

    def finish(self) -> bool:
        """Commit the rest, including a last line without newline; True when all is committed.

        Only for a spool whose writers have exited. A spool that has lost its end, as after a power
        failure, is accepted: the stored lines are kept, and no more lines are expected.
        """
        while self.ingest():
            pass
        self._ingest_piece(lambda store: store.spool.read_unterminated())
        if self._fault is not None and self._fault.kind is FaultKind.CHANGED_SPOOL:
            self._spool_problem = f"{self._fault.message}; what was stored before is kept"
            self._clear_fault()
            return True
        status = self.status()
        return status.fault is None and not status.is_behind

    def status(self) -> IngestStatus:
        spool_bytes = self._store.spool.size if self._store else regular_size(self._run.spool)
        return IngestStatus(
            self._committed,
            spool_bytes,
            self._steps,
            self._fault,
            self._spool_problem,
            self._store_problem,
        )

    def close(self) -> None:
        """Close the store. Lines that are not committed are still in the spool."""
        if self._store is None:
            return
        try:
            self._store.connection.rollback()
            self._checkpoint(self._store, "TRUNCATE")
        except (OSError, sqlite3.Error) as error:
            _log.warning("T202 last checkpoint of %s skipped: %s", self._run.run_id, error)
        self._store.close()
        self._store = None

    def _ingest_piece(self, read: Callable[[_OpenStore], Piece | None]) -> int:
        """Read and commit one piece; system errors become a fault. Returns the size in bytes."""
        if self._fault is not None and self._clock() < self._retry_at:
            return 0
        size = 0
        self.has_more = False
        try:
            store = self._open_store()
            self._update_progress(store)
            piece = read(store)
            if isinstance(piece, ScannedPart):
                size = piece.end - piece.start
                self.has_more = True
            elif piece is not None:
                end = store.commit(piece)
                size = end - piece.start
                self.has_more = end < piece.end or (isinstance(piece, Block) and piece.has_more)
                self._update_progress(store)
                self._checkpoint_when_due(store, size)
        except PROGRAMMING_ERRORS:
            raise
        except RETRYABLE_ERRORS as error:
            self._set_fault(error)
            return 0
        self._clear_fault()
        return size

    def _open_store(self) -> _OpenStore:
        if self._store is not None and not self._store.is_in_place(self._run.store):
            self._store.close()
            self._store = None
        if self._store is None:
            with report_damage():
                self._store = _OpenStore(self._run)
        return self._store

    def _update_progress(self, store: _OpenStore) -> None:
        self._committed = store.spool.offset
        if store.spool.is_displaced and not self._spool_problem:
            self._spool_problem = _DISPLACED
            _log.warning("T206 ingest of %s: %s", self._run.run_id, _DISPLACED)
        self._steps = store.counts[counters.STEPS]

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
        # First the files: after a power failure the store must not refer to lines that are gone.
        store.spool.sync()
        store.ingester.sync()
        row = store.connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        self._check_log_size(*row)
        _log.info("T201 checkpoint of %s: (busy, log, checkpointed) = %s", self._run.run_id, row)

    def _check_log_size(self, _busy: int, pages: int, merged: int) -> None:
        """Report a write-ahead log that grows because a reader holds an old state of the store."""
        wal_bytes = regular_size(self._run.store.with_name(f"{self._run.store.name}-wal"))
        is_stuck = merged < pages and wal_bytes > _MAX_WAL_BYTES
        if is_stuck and not self._store_problem:
            _log.warning("T207 the log of %s has %d bytes", self._run.run_id, wal_bytes)
        self._store_problem = _STUCK_READER.format(wal_bytes >> 20) if is_stuck else ""

    def _set_fault(self, error: BaseException) -> None:
        fault = fault_from_error(error)
        if self._fault is None or self._fault.kind != fault.kind:
            _log.warning(
                "T204 ingest of %s waits: %s: %s %s",
                self._run.run_id,
                fault.kind,
                fault.message,
                fault.remedy,
            )
            self._retry_delay_s = _MIN_RETRY_S
        self._fault = fault
        self._retry_at = self._clock() + self._retry_delay_s
        self._retry_delay_s = min(self._retry_delay_s * 2, _MAX_RETRY_S)
        if self._store is not None:
            self._store.close()
            self._store = None

    def _clear_fault(self) -> None:
        if self._fault is not None:
            _log.info("T205 ingest of %s resumed", self._run.run_id)
            self._fault = None
            self._retry_delay_s = _MIN_RETRY_S
