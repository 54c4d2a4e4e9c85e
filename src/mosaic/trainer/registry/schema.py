"""The tables of the registry, and the migration of older files.

- `run`: one row per run, in order of `key`, which is never reused.
- `run_digest`: its statistics, separate because they change every second while it runs.
- `run_document`: its configuration and everything else that lists do not show.
- `run_tag`, `state_change`: its tags, and its state history.
- `run_artifact`: the checkpoints and data sets of its manifest, so that those of all runs can be
  listed without reading every manifest. Triggers keep it in sync with `run_document.manifest`.
- `event`: the log of run events; `event_horizon` has the number up to which it was deleted.
"""

import sqlite3
from collections.abc import Sequence

APPLICATION_ID = 0x4D4F5352  # "MOSR"

_FIRST_SCHEMA = (
    """
    CREATE TABLE run (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id TEXT NOT NULL UNIQUE,
        request_id TEXT UNIQUE,
        name TEXT NOT NULL,
        worker TEXT NOT NULL,
        mode TEXT NOT NULL,
        algo TEXT NOT NULL,
        env_id TEXT NOT NULL,
        seed INTEGER NOT NULL,
        state TEXT NOT NULL,
        reason TEXT NOT NULL,
        remedy TEXT NOT NULL,
        exit_code INTEGER,
        created_at REAL NOT NULL,
        started_at REAL,
        ended_at REAL,
        paused_s REAL NOT NULL DEFAULT 0,
        priority INTEGER NOT NULL,
        archived INTEGER NOT NULL DEFAULT 0,
        parent_run TEXT,
        warnings TEXT NOT NULL DEFAULT '[]',
        note TEXT NOT NULL DEFAULT '',
        searched TEXT NOT NULL DEFAULT ''
    )
    """,
    # Each ends with the key, as every index does: a filtered list needs no sorting.
    "CREATE INDEX run_archived ON run (archived)",
    "CREATE INDEX run_state ON run (state, archived)",
    "CREATE INDEX run_kind ON run (worker, algo, env_id)",
    "CREATE INDEX run_env ON run (env_id, archived)",
    "CREATE INDEX run_parent ON run (parent_run) WHERE parent_run IS NOT NULL",
    """
    CREATE TABLE run_digest (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        steps INTEGER NOT NULL DEFAULT 0,
        episodes INTEGER NOT NULL DEFAULT 0,
        metrics INTEGER NOT NULL DEFAULT 0,
        last_step_at REAL,
        latest_return REAL,
        mean_return REAL,
        sps REAL,
        progress_done REAL,
        progress_total REAL,
        progress_unit TEXT NOT NULL DEFAULT '',
        eta_s REAL,
        heartbeat_at REAL,
        rss_bytes INTEGER,
        rejects INTEGER NOT NULL DEFAULT 0,
        spool_bytes INTEGER NOT NULL DEFAULT 0,
        committed_bytes INTEGER NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE run_document (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        config BLOB NOT NULL,
        resolved BLOB,
        manifest BLOB NOT NULL,
        command TEXT NOT NULL DEFAULT '[]',
        bundle TEXT,
        bundle_folder TEXT,
        code_folder TEXT,
        output_tail TEXT NOT NULL DEFAULT '[]'
    )
    """,
    "CREATE INDEX run_document_folders ON run_document (bundle_folder, code_folder)",
    """
    CREATE TABLE run_tag (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (run, tag)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX run_tag_runs ON run_tag (tag, run)",
    """
    CREATE TABLE state_change (
        seq INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        state TEXT NOT NULL,
        t REAL NOT NULL,
        reason TEXT NOT NULL
    )
    """,
    "CREATE INDEX state_change_run ON state_change (run)",
    # Not a foreign key to `run`: the events of a deleted run stay, including its deletion.
    """
    CREATE TABLE event (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        t REAL NOT NULL,
        run_id TEXT NOT NULL,
        what TEXT NOT NULL
    )
    """,
    "CREATE INDEX event_run ON event (run_id)",
    "CREATE TABLE event_horizon (forgotten INTEGER NOT NULL)",
    "INSERT INTO event_horizon VALUES (0)",
)

_MANIFEST_ROWS = """
    SELECT {run}, listed.kind, json_extract(file.value, '$.path'),
        json_extract(file.value, '$.size_bytes'), json_extract(file.value, '$.t'),
        coalesce(json_extract(file.value, '$.meta'), '{{}}')
    FROM {source} (SELECT 'checkpoint' AS kind, '$.checkpoints' AS place
                   UNION ALL SELECT 'dataset', '$.datasets') AS listed,
        json_each(iif(json_valid(CAST({manifest} AS TEXT)), CAST({manifest} AS TEXT), '{{}}'),
                  listed.place) AS file
"""

_ARTIFACT_INDEX = (
    """
    CREATE TABLE run_artifact (
        key INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        kind TEXT NOT NULL,
        path TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        t REAL NOT NULL,
        meta TEXT NOT NULL
    )
    """,
    "CREATE INDEX run_artifact_of_run ON run_artifact (run, kind)",
    "CREATE INDEX run_artifact_by_time ON run_artifact (kind, t)",
    "INSERT INTO run_artifact (run, kind, path, size_bytes, t, meta)"
    + _MANIFEST_ROWS.format(run="run", manifest="manifest", source="run_document,"),
    "CREATE TRIGGER manifest_changed AFTER UPDATE OF manifest ON run_document BEGIN"  # noqa: S608
    " DELETE FROM run_artifact WHERE run = NEW.run;"
    " INSERT INTO run_artifact (run, kind, path, size_bytes, t, meta)"
    + _MANIFEST_ROWS.format(run="NEW.run", manifest="NEW.manifest", source="")
    + "; END",
)

_DISK_USE = ("ALTER TABLE run_digest ADD COLUMN disk_bytes INTEGER",)

_IMPORTED_MARK = (
    "ALTER TABLE run ADD COLUMN imported INTEGER NOT NULL DEFAULT 0",
    # Only an imported run was started without a command of this home.
    """
    UPDATE run SET imported = 1 WHERE started_at IS NOT NULL
        AND key IN (SELECT run FROM run_document WHERE command = '[]')
    """,
)

Migration = Sequence[str]
"""The statements that lead from one version of the schema to the next."""

MIGRATIONS: tuple[Migration, ...] = (_FIRST_SCHEMA, _ARTIFACT_INDEX, _DISK_USE, _IMPORTED_MARK)
"""Applied in order; `user_version` is the number of applied migrations. Append only."""


def schema_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether the file is a database of another program."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return bool(application_id != APPLICATION_ID and objects)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply the missing `migrations`.

    Each is committed together with its number, so that none is applied partially.
    """
    while schema_version(connection) < len(migrations):
        connection.execute("BEGIN IMMEDIATE")
        try:
            number = schema_version(connection)  # another process may have migrated it
            for migration in migrations[number : number + 1]:
                for statement in migration:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
