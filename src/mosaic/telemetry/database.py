"""The SQLite file of one run: its schema, and connections for writing and reading.

Tables:

- `counter`: the counters of ingest, including the spool offset.
- `step_chunk`, `metric_chunk`: the lines, zstd-compressed, in order of arrival.
- `step_span`: the lines of each chunk that belong to an episode.
- `episode`: one row per episode, updated while it runs.
- `series`, `curve_chunk`: metrics as columns, with a min/max pyramid.
- `event`: all other lines, one row each.
"""

import sqlite3
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from mosaic.contract.regular_files import require_regular_database

APPLICATION_ID = 0x4D4F5341  # "MOSA"
_BUSY_TIMEOUT_MS = 200
# A daemon has three connections per live run; the default cache of each is 2 MB.
_WRITER_CACHE_KIB = 512
_READER_CACHE_KIB = 256
_PRIMARY_CODE_MASK = 0xFF
_ROWS_PER_STATEMENT = 32
_CANNOT_CREATE_WAL = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)

_INITIAL_SCHEMA = """
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE step_chunk (first_seq INTEGER PRIMARY KEY, lines INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE metric_chunk (
    first_seq INTEGER PRIMARY KEY, lines INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE TABLE step_span (
    episode INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    first_step INTEGER NOT NULL,
    last_step INTEGER NOT NULL,
    runs BLOB NOT NULL,
    PRIMARY KEY (episode, chunk)
) WITHOUT ROWID;
CREATE INDEX step_span_order ON step_span (episode, first_step);
CREATE TABLE episode (
    key INTEGER PRIMARY KEY,
    ordinal INTEGER NOT NULL UNIQUE,
    episode_id TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL UNIQUE,
    agent_id TEXT,
    start_event INTEGER,
    end_event INTEGER,
    steps INTEGER NOT NULL,
    reward_sum REAL NOT NULL,
    seen BLOB NOT NULL,
    terminated INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    duplicate_steps INTEGER NOT NULL,
    out_of_order_steps INTEGER NOT NULL,
    reported_steps INTEGER,
    reported_return REAL
);
CREATE TABLE series (
    key INTEGER PRIMARY KEY,
    agent_id TEXT NOT NULL,
    name TEXT NOT NULL,
    points INTEGER NOT NULL,
    last_step REAL, step_grows INTEGER NOT NULL,
    last_t REAL, t_grows INTEGER NOT NULL,
    UNIQUE (agent_id, name)
);
CREATE TABLE curve_chunk (
    series INTEGER NOT NULL,
    level INTEGER NOT NULL,
    number INTEGER NOT NULL,
    items INTEGER NOT NULL,
    min_step REAL, max_step REAL, min_t REAL, max_t REAL,
    data BLOB NOT NULL,
    PRIMARY KEY (series, level, number)
);
CREATE TABLE event (seq INTEGER PRIMARY KEY, type TEXT NOT NULL, line BLOB NOT NULL);
CREATE INDEX event_type ON event (type, seq);
"""

MIGRATIONS: tuple[str, ...] = (_INITIAL_SCHEMA,)
"""Applied in order; `user_version` is the number of applied migrations."""


class NewerStoreError(Exception):
    """The file was written by a newer version of MOSAIC."""


class EmptyStoreError(Exception):
    """The file has no tables yet."""


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open the writer's connection and apply migrations. There is one writer per run.

    Raises `NotRegularFileError` when one of the database files is a link or a pipe.
    """
    require_regular_database(path)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # the service runs and logs checkpoints
        connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a read-only connection that never blocks the writer.

    Raises `EmptyStoreError` when the writer has not created the tables yet.
    """
    try:
        return _open_read_only(path, "mode=ro")
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode & _PRIMARY_CODE_MASK
        if code not in _CANNOT_CREATE_WAL or _has_unmerged_commits(path):
            raise
    # In a read-only folder there is no writer, so the file cannot change.
    return _open_read_only(path, "mode=ro&immutable=1")


def _has_unmerged_commits(path: Path) -> bool:
    wal = path.with_name(f"{path.name}-wal")
    return wal.exists() and wal.stat().st_size > 0


def _open_read_only(path: Path, parameters: str) -> sqlite3.Connection:
    require_regular_database(path)
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{parameters}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")
        if _version(connection) == 0:
            raise EmptyStoreError  # noqa: TRY301 - closed below as for any other error
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise NewerStoreError
    return version


def _migrate(connection: sqlite3.Connection) -> None:
    for number in range(_version(connection), len(MIGRATIONS)):
        connection.executescript(
            f"BEGIN IMMEDIATE;{MIGRATIONS[number]}"
            f"PRAGMA application_id = {APPLICATION_ID};"
            f"PRAGMA user_version = {number + 1};COMMIT;"
        )


class BulkInsert:
    """Inserts rows of `columns` values with a statement such as `INSERT INTO table`.

    Each statement inserts many rows, because a statement costs as much as the row that it inserts.
    """

    def __init__(self, connection: sqlite3.Connection, statement: str, columns: int) -> None:
        row = f"({', '.join('?' * columns)})"
        self._connection = connection
        self._one = f"{statement} VALUES {row}"
        self._many = f"{statement} VALUES {', '.join([row] * _ROWS_PER_STATEMENT)}"

    def insert(self, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert `rows` in order."""
        batched = len(rows) - len(rows) % _ROWS_PER_STATEMENT
        self._connection.executemany(
            self._many,
            (
                tuple(chain.from_iterable(rows[start : start + _ROWS_PER_STATEMENT]))
                for start in range(0, batched, _ROWS_PER_STATEMENT)
            ),
        )
        self._connection.executemany(self._one, rows[batched:])
