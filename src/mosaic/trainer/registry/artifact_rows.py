"""Queries on the artifacts of all runs, for lists of checkpoints and for pruning.

Checkpoints and data sets have their own rows, which triggers derive from the manifests: the cost of
a page does not depend on the number of runs.
"""

import sqlite3
from typing import Any, Literal, NamedTuple

import msgspec

from mosaic.contract.manifest import ArtifactManifest, encode_manifest
from mosaic.contract.run_states import FINAL_STATES
from mosaic.trainer.registry.run_rows import as_json_list
from mosaic.trainer.registry.text_rules import storable

_COLUMNS = "run_id, path, size_bytes, t, meta, worker, algo, env_id"


class ArtifactQuery(msgspec.Struct, kw_only=True, frozen=True):
    """Filters for artifacts. Empty fields do not filter."""

    kind: Literal["checkpoint", "dataset"]
    run_id: str = ""
    worker: str = ""
    algo: str = ""
    env_id: str = ""


class ArtifactPosition(NamedTuple):
    """The position of an artifact in the order: newest first, then by run and path."""

    t: float
    run_id: str
    path: str


class ArtifactRecord(NamedTuple):
    """One artifact, with fields of its run. `path` is relative to the run's directory."""

    run_id: str
    path: str
    size_bytes: int
    t: float
    meta: str
    worker: str
    algo: str
    env_id: str


class FinishedRun(NamedTuple):
    """A finished run with its manifest."""

    run_id: str
    ended_at: float
    manifest: bytes


def fetch_artifacts(
    connection: sqlite3.Connection,
    query: ArtifactQuery,
    before: ArtifactPosition | None,
    limit: int,
) -> list[ArtifactRecord]:
    """At most `limit` artifacts, those after `before` in the order."""
    # The plus keeps SQLite from scanning all artifacts by time to find those of one run.
    conditions: list[str] = ["+kind = ?" if query.run_id else "kind = ?"]
    values: list[Any] = [query.kind]
    for column in ("run_id", "worker", "algo", "env_id"):
        if value := getattr(query, column):
            conditions.append(f"{column} = ?")
            values.append(storable(value))
    if before is not None:
        conditions.append("t <= ? AND (t, run_id, path) < (?, ?, ?)")
        values += [before.t, *before]
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM run_artifact JOIN run ON run.key = run"  # noqa: S608 - constant column names
        f" WHERE {' AND '.join(conditions)} ORDER BY t DESC, run_id DESC, path DESC LIMIT ?",
        (*values, limit),
    )
    return [ArtifactRecord(*row) for row in rows]


def fetch_finished_runs(connection: sqlite3.Connection) -> list[FinishedRun]:
    """Finished runs with artifacts, except archived ones and those tagged `keep`."""
    rows = connection.execute(
        "SELECT run_id, coalesce(ended_at, created_at) AS ended, manifest"
        " FROM run JOIN run_document ON run = key"
        " WHERE state IN (SELECT value FROM json_each(?)) AND archived = 0 AND manifest != ?"
        " AND NOT EXISTS (SELECT 1 FROM run_tag WHERE run_tag.run = key AND tag = 'keep')"
        " ORDER BY ended, key",
        (
            as_json_list(sorted(str(state) for state in FINAL_STATES)),
            encode_manifest(ArtifactManifest()),
        ),
    )
    return [FinishedRun(*row) for row in rows]
