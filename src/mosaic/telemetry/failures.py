"""What can keep ingest from going on, in words, and what a person can do about it."""

import errno
import sqlite3
from enum import StrEnum

import msgspec
import zstandard

from mosaic.telemetry.database import NewerStoreError
from mosaic.telemetry.ordinary_files import NotOrdinaryError
from mosaic.telemetry.spool import ChangedSpoolError


class AnotherWriterError(Exception):
    """Somebody else has committed to the store since it was read."""


WORLD_ERRORS = (
    OSError,
    sqlite3.Error,
    zstandard.ZstdError,
    ChangedSpoolError,
    NewerStoreError,
    AnotherWriterError,
)
"""What the world can do to ingest; anything else is a bug and is raised."""
BUGS = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError)
"""SQLite's complaints about us, which are errors of its too but nothing that waiting mends."""


class Obstacle(StrEnum):
    """What stands in the way."""

    DISK_FULL = "disk_full"
    READ_ONLY = "read_only"
    LOCKED = "locked"
    CORRUPT = "corrupt"
    NOT_A_FILE = "not_a_file"
    CHANGED_SPOOL = "changed_spool"
    ANOTHER_WRITER = "another_writer"
    NEWER_STORE = "newer_store"
    IO_ERROR = "io_error"


class Blockage(msgspec.Struct, frozen=True):
    """Why ingest waits. It tries again by itself; nothing is lost, the spool holds it all."""

    obstacle: Obstacle
    message: str
    remedy: str


_REMEDIES = {
    Obstacle.DISK_FULL: "Free some disk space; ingest goes on by itself.",
    Obstacle.READ_ONLY: "Make the run's directory writable for this user.",
    Obstacle.LOCKED: "Close the program that has the run's telemetry.db open for writing.",
    Obstacle.CORRUPT: "Move telemetry.db aside; it is made again from telemetry.jsonl.",
    Obstacle.NOT_A_FILE: "Move what has its name away; it must be an ordinary file.",
    Obstacle.CHANGED_SPOOL: "Restore telemetry.jsonl; somebody has cut or replaced it.",
    Obstacle.ANOTHER_WRITER: "Stop the other process that ingests this run.",
    Obstacle.NEWER_STORE: "Update MOSAIC, or move telemetry.db aside to have it made again.",
    Obstacle.IO_ERROR: "Check the disk that holds the run's directory.",
}
_OF_ERRNO = {
    errno.ENOSPC: Obstacle.DISK_FULL,
    errno.EDQUOT: Obstacle.DISK_FULL,
    errno.EFBIG: Obstacle.DISK_FULL,
    errno.EROFS: Obstacle.READ_ONLY,
    errno.EACCES: Obstacle.READ_ONLY,
    errno.EPERM: Obstacle.READ_ONLY,
}
_OF_SQLITE = {
    sqlite3.SQLITE_FULL: Obstacle.DISK_FULL,
    sqlite3.SQLITE_BUSY: Obstacle.LOCKED,
    sqlite3.SQLITE_LOCKED: Obstacle.LOCKED,
    sqlite3.SQLITE_CORRUPT: Obstacle.CORRUPT,
    sqlite3.SQLITE_NOTADB: Obstacle.CORRUPT,
    sqlite3.SQLITE_READONLY: Obstacle.READ_ONLY,
    sqlite3.SQLITE_PERM: Obstacle.READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: Obstacle.READ_ONLY,
}
_PRIMARY_CODE_MASK = 0xFF


def blockage_of(error: BaseException) -> Blockage:
    """The words for one of `WORLD_ERRORS`."""
    obstacle = _obstacle_of(error)
    return Blockage(obstacle, str(error) or type(error).__name__, _REMEDIES[obstacle])


def _obstacle_of(error: BaseException) -> Obstacle:
    if isinstance(error, ChangedSpoolError):
        return Obstacle.CHANGED_SPOOL
    if isinstance(error, AnotherWriterError):
        return Obstacle.ANOTHER_WRITER
    if isinstance(error, NewerStoreError):
        return Obstacle.NEWER_STORE
    if isinstance(error, zstandard.ZstdError):
        return Obstacle.CORRUPT
    if isinstance(error, NotOrdinaryError):
        return Obstacle.NOT_A_FILE
    if isinstance(error, OSError):
        return _OF_ERRNO.get(error.errno or 0, Obstacle.IO_ERROR)
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE_MASK
    return _OF_SQLITE.get(code, Obstacle.IO_ERROR)
