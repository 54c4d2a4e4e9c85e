"""Faults that interrupt ingest, with messages and remedies."""

import errno
import logging
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

import msgspec
import zstandard

from mosaic.contract.regular_files import NotRegularFileError
from mosaic.telemetry.database import NewerStoreError
from mosaic.telemetry.spool import ChangedSpoolError

_log = logging.getLogger(__name__)


class AnotherWriterError(Exception):
    """Another process has committed to the store since it was read."""


class DamagedStoreError(Exception):
    """The store has values that ingest does not write."""


RETRYABLE_ERRORS = (
    OSError,
    sqlite3.Error,
    zstandard.ZstdError,
    ChangedSpoolError,
    NewerStoreError,
    AnotherWriterError,
    DamagedStoreError,
)
"""Errors of the system, after which ingest is retried; any other exception is a bug."""
PROGRAMMING_ERRORS = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError)
"""Subclasses of `sqlite3.Error` that are bugs and that a retry cannot fix."""

_MALFORMED_VALUE_ERRORS = (
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    struct.error,
    msgspec.MsgspecError,
)


@contextmanager
def report_damage() -> Iterator[None]:
    """Raise `DamagedStoreError` for values that cannot be used.

    A worker can write anything to the store of its run, also in columns that only ingest writes.
    The log has the traceback, because the cause can be a bug as well.
    """
    try:
        yield
    except _MALFORMED_VALUE_ERRORS as error:
        _log.warning("T208 a value in a store cannot be used", exc_info=True)
        raise DamagedStoreError(f"a value is damaged ({type(error).__name__}: {error})") from error


class FaultKind(StrEnum):
    """Cause of a fault."""

    DISK_FULL = "disk_full"
    READ_ONLY = "read_only"
    LOCKED = "locked"
    CORRUPT = "corrupt"
    NOT_A_FILE = "not_a_file"
    CHANGED_SPOOL = "changed_spool"
    ANOTHER_WRITER = "another_writer"
    NEWER_STORE = "newer_store"
    IO_ERROR = "io_error"


class IngestFault(msgspec.Struct, frozen=True):
    """Why ingest is waiting. It retries automatically; the spool still has every line."""

    kind: FaultKind
    message: str
    remedy: str


_REMEDIES = {
    FaultKind.DISK_FULL: "Free some disk space; ingest resumes automatically.",
    FaultKind.READ_ONLY: "Make the run's directory writable for this user.",
    FaultKind.LOCKED: "Close the program that has the run's telemetry.db open for writing.",
    FaultKind.CORRUPT: "Move telemetry.db away; it is rebuilt from telemetry.jsonl.",
    FaultKind.NOT_A_FILE: "Move it away; it must be a regular file.",
    FaultKind.CHANGED_SPOOL: "Restore telemetry.jsonl; it was truncated or replaced.",
    FaultKind.ANOTHER_WRITER: "Stop the other process that ingests this run.",
    FaultKind.NEWER_STORE: "Update MOSAIC, or move telemetry.db away to have it rebuilt.",
    FaultKind.IO_ERROR: "Check the disk that holds the run's directory.",
}
_KIND_BY_ERRNO = {
    errno.ENOSPC: FaultKind.DISK_FULL,
    errno.EDQUOT: FaultKind.DISK_FULL,
    errno.EFBIG: FaultKind.DISK_FULL,
    errno.EROFS: FaultKind.READ_ONLY,
    errno.EACCES: FaultKind.READ_ONLY,
    errno.EPERM: FaultKind.READ_ONLY,
}
_KIND_BY_SQLITE_CODE = {
    sqlite3.SQLITE_FULL: FaultKind.DISK_FULL,
    sqlite3.SQLITE_BUSY: FaultKind.LOCKED,
    sqlite3.SQLITE_LOCKED: FaultKind.LOCKED,
    sqlite3.SQLITE_CORRUPT: FaultKind.CORRUPT,
    sqlite3.SQLITE_NOTADB: FaultKind.CORRUPT,
    sqlite3.SQLITE_READONLY: FaultKind.READ_ONLY,
    sqlite3.SQLITE_PERM: FaultKind.READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: FaultKind.READ_ONLY,
}
_PRIMARY_CODE_MASK = 0xFF


def fault_from_error(error: BaseException) -> IngestFault:
    """Describe one of `RETRYABLE_ERRORS`."""
    kind = _kind_of(error)
    return IngestFault(kind, str(error) or type(error).__name__, _REMEDIES[kind])


def _kind_of(error: BaseException) -> FaultKind:
    if isinstance(error, ChangedSpoolError):
        return FaultKind.CHANGED_SPOOL
    if isinstance(error, AnotherWriterError):
        return FaultKind.ANOTHER_WRITER
    if isinstance(error, NewerStoreError):
        return FaultKind.NEWER_STORE
    if isinstance(error, (zstandard.ZstdError, DamagedStoreError)):
        return FaultKind.CORRUPT
    if isinstance(error, NotRegularFileError):
        return FaultKind.NOT_A_FILE
    if isinstance(error, OSError):
        return _KIND_BY_ERRNO.get(error.errno or 0, FaultKind.IO_ERROR)
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE_MASK
    return _KIND_BY_SQLITE_CODE.get(code, FaultKind.IO_ERROR)
