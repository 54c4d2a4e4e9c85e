"""RegistryDatabase: the SQLite file of the registry. A damaged file is set aside and replaced.

Used by the registry's own modules only. One connection writes, behind a lock, and a few read; in
WAL mode a reader sees the last commit and never waits for the next one.
"""

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.trainer.registry import schema
from mosaic.trainer.registry.errors import (
    DAMAGE,
    explain_file_errors,
    primary_code,
)

_log = logging.getLogger(__name__)

BUSY_TIMEOUT_MS = 2_000
"""How long a write waits for another program that holds the file."""
_IDLE_READERS = 4
"""How many idle reading connections are pooled; each has its own page cache."""
_COMPANIONS = ("", "-wal", "-shm")


class RegistryDatabase:
    """One open registry file. Safe from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.set_aside: Path | None = None
        """Where a damaged file was moved when this one was opened."""
        self.set_aside_reason = ""
        """A message about that for the user."""
        self._write_lock = threading.Lock()
        self._readers_lock = threading.Lock()
        self._idle_readers: list[sqlite3.Connection] = []
        self._is_closed = False
        with explain_file_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._open_or_set_aside()

    def close(self) -> None:
        with self._write_lock, self._readers_lock:
            self._is_closed = True
            for connection in self._idle_readers:
                connection.close()
            self._idle_readers.clear()
            self._writer.close()

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction, committed at the end of the block and rolled back by any error.

        Once committed, it survives a power failure; with `durable=False` only a crash of this
        process, which avoids a flush of the disk.
        """
        with self._write_lock, explain_file_errors(self._path):
            connection = self._writer
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A consistent snapshot of the registry for the duration of the block."""
        with explain_file_errors(self._path):
            connection = self._borrow_reader()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._return_reader(connection)

    def _borrow_reader(self) -> sqlite3.Connection:
        with self._readers_lock:
            if self._is_closed:
                raise sqlite3.ProgrammingError("the registry is closed")
            if self._idle_readers:
                return self._idle_readers.pop()
        connection = _connect(f"{self._path.absolute().as_uri()}?mode=ro")
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        return connection

    def _return_reader(self, connection: sqlite3.Connection) -> None:
        try:
            connection.rollback()
        except sqlite3.Error:
            connection.close()
            raise
        with self._readers_lock:
            if not self._is_closed and len(self._idle_readers) < _IDLE_READERS:
                self._idle_readers.append(connection)
                return
        connection.close()

    def _open_or_set_aside(self) -> sqlite3.Connection:
        try:
            return _open_writer(self._path)
        except _DamagedError as error:
            damage = str(error)
        self.set_aside = _move_aside(self._path)
        self.set_aside_reason = (
            f"The registry of runs was damaged ({damage}). It was set aside as {self.set_aside},"
            " and a new one was built from the runs' directories."
        )
        _log.error("T317 %s", self.set_aside_reason)
        return _open_writer(self._path)


class _DamagedError(Exception):
    """The file is not a valid registry."""


def _open_writer(path: Path) -> sqlite3.Connection:
    connection = _connect(path.absolute().as_uri())
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        if schema.schema_version(connection) > len(schema.MIGRATIONS):
            raise UserError(  # noqa: TRY301 - closed below as for any other error
                f"The registry of runs {path} was written by a newer version of MOSAIC.",
                remedy="Update MOSAIC, or move the file away to have it rebuilt from the runs.",
                code="T316",
            )
        _check(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        schema.migrate(connection)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error) and primary_code(error) in DAMAGE:
            raise _DamagedError(str(error)) from error
        raise
    return connection


def _check(connection: sqlite3.Connection) -> None:
    if schema.is_foreign(connection):
        raise _DamagedError("it is the database of another program")
    (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise _DamagedError(result)


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _move_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for companion in _COMPANIONS:
        file = path.with_name(path.name + companion)
        if file.exists():
            file.rename(aside.with_name(aside.name + companion))
    return aside
