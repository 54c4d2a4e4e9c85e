"""StoreView: a run's store for streams and queries, opened once it exists.

Errors of the file system and of SQLite become `UserError`.
"""

from collections.abc import Callable
from typing import Literal, Self, TypeVar

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.chunks import StoredChunk
from mosaic.telemetry.errors import PROGRAMMING_ERRORS, RETRYABLE_ERRORS, fault_from_error
from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.service.errors import unsafe_file

Result = TypeVar("Result")

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
            return None if reader is None else query(reader)
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
