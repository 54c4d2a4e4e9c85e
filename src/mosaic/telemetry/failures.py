"""What can keep ingest from going on, in words, and what a person can do about it."""

import errno
import sqlite3
from enum import StrEnum

import msgspec
import zstandard

from mosaic.telemetry.database import NewerStoreError
from mosaic.telemetry.spool import ShrunkSpoolError

WORLD_ERRORS = (
    OSError,
    sqlite3.Error,
    zstandard.ZstdError,
    ShrunkSpoolError,
    NewerStoreError,
)
"""What the world can do to ingest; anything else is a bug and is raised."""


class Obstacle(StrEnum):
    """What stands in the way."""

    DISK_FULL = "disk_full"
    READ_ONLY = "read_only"
    LOCKED = "locked"
    CORRUPT = "corrupt"
    NOT_A_FILE = "not_a_file"
    SHRUNK_SPOOL = "shrunk_spool"
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
    Obstacle.NOT_A_FILE: "Move the directory of that name away.",
    Obstacle.SHRUNK_SPOOL: "Restore telemetry.jsonl; somebody has cut it short.",
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
    errno.EISDIR: Obstacle.NOT_A_FILE,
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
    if isinstance(error, ShrunkSpoolError):
        return Obstacle.SHRUNK_SPOOL
    if isinstance(error, NewerStoreError):
        return Obstacle.NEWER_STORE
    if isinstance(error, zstandard.ZstdError):
        return Obstacle.CORRUPT
    if isinstance(error, OSError):
        return _OF_ERRNO.get(error.errno or 0, Obstacle.IO_ERROR)
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE_MASK
    return _OF_SQLITE.get(code, Obstacle.IO_ERROR)
