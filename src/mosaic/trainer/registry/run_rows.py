"""Conversion between rows of the registry and the structs of `mosaic.contract.runs`.

SQLite has no NaN: it would store NULL, which means "unknown". A digest's NaN (the return of a
diverged run) is stored as the text "NaN", and read as the float.
"""

import math
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mosaic.contract.ids import is_ulid, ulid_time_ms
from mosaic.contract.imported_code import withhold_code
from mosaic.contract.layout import Home
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import BundleUse, RunDetails, RunRecord, RunStats, StateChange

_RUN_COLUMNS = (
    "run_id, name, worker, mode, algo, env_id, seed, state, reason, remedy, exit_code,"
    " created_at, started_at, ended_at, priority, note, archived, parent_run, warnings, imported"
)
_RUN_FIELDS = tuple(_RUN_COLUMNS.replace(",", " ").split())
_DIGEST_FIELDS = RunStats.__struct_fields__
_NAN = "NaN"
_MAX_INT32 = (1 << 31) - 1
_TEXT_IN_DIGEST = _DIGEST_FIELDS.index("progress_unit")

_SELECT = (
    f"SELECT key, {_RUN_COLUMNS}, {', '.join(_DIGEST_FIELDS)}"  # noqa: S608 - constant column names
    # A cross join keeps the order of the tables: runs are selected first, then their digests.
    " FROM run CROSS JOIN run_digest ON run_digest.run = key "
)
_SET_DIGEST = (
    f"UPDATE run_digest SET {', '.join(f'{name} = ?' for name in _DIGEST_FIELDS)}"  # noqa: S608
    " WHERE run = (SELECT key FROM run WHERE run_id = ?)"
)

Keyed = tuple[int, RunRecord]
"""A run with its primary key."""


def as_json_list(values: Collection[str] | Collection[int]) -> str:
    """`values` for `IN (SELECT value FROM json_each(?))`, which accepts any number of them."""
    return msgspec.json.encode([*values]).decode()


def fetch_records(
    connection: sqlite3.Connection, where: str, parameters: Sequence[Any]
) -> list[Keyed]:
    """The runs that `where` (a WHERE clause and what may follow it) selects, in its order."""
    rows = connection.execute(_SELECT + where, parameters).fetchall()
    tags = _fetch_tags(connection, [row[0] for row in rows])
    return [(row[0], _readable_record(row, tags.get(row[0], ()))) for row in rows]


def fetch_record(connection: sqlite3.Connection, run_id: str) -> Keyed | None:
    return next(iter(fetch_records(connection, "WHERE run_id = ?", (run_id,))), None)


def fetch_records_by_id(
    connection: sqlite3.Connection, run_ids: Collection[str]
) -> dict[str, RunRecord]:
    """Those runs that exist, with two queries for any number of them."""
    where = "WHERE run_id IN (SELECT value FROM json_each(?))"
    keyed = fetch_records(connection, where, (as_json_list(run_ids),))
    return {record.run_id: record for _, record in keyed}


def fetch_details(connection: sqlite3.Connection, run_id: str) -> RunDetails | None:
    keyed = fetch_record(connection, run_id)
    if keyed is None:
        return None
    key, record = keyed
    config, resolved, manifest, command, bundle, tail = connection.execute(
        "SELECT config, resolved, manifest, command, bundle, output_tail FROM run_document"
        " WHERE run = ?",
        (key,),
    ).fetchone()
    withheld: dict[str, Any] = {}
    if record.imported:
        safe_config, withheld = withhold_code(msgspec.json.decode(config))
        config = msgspec.json.encode(safe_config)
        bundle = None  # an archive must not choose the Python that runs
    history = connection.execute(
        "SELECT state, t, reason FROM state_change WHERE run = ? ORDER BY seq", (key,)
    )
    return RunDetails(
        run=record,
        config_json=config,
        resolved_json=resolved,
        manifest_json=manifest,
        command=decode_texts(command),
        bundle=None if bundle is None else msgspec.json.decode(bundle, type=BundleUse),
        history=tuple(
            StateChange(state=RunState(state), t=t, reason=reason) for state, t, reason in history
        ),
        output_tail=decode_texts(tail),
        directory=Home(Path()).run(run_id).path.as_posix(),
        queue_position=_queue_position(connection, key, record),
        withheld_json=msgspec.json.encode(withheld),
    )


def write_digests(connection: sqlite3.Connection, digests: Mapping[str, RunStats]) -> None:
    """Runs that no longer exist are skipped."""
    connection.executemany(
        _SET_DIGEST,
        (
            (*map(_storable_number, msgspec.structs.astuple(digest)), run_id)
            for run_id, digest in digests.items()
        ),
    )


def write_disk_bytes(connection: sqlite3.Connection, sizes: Mapping[str, int]) -> None:
    """Runs that no longer exist are skipped."""
    connection.executemany(
        "UPDATE run_digest SET disk_bytes = ? WHERE run = (SELECT key FROM run WHERE run_id = ?)",
        ((size, run_id) for run_id, size in sizes.items()),
    )


def fetch_unmeasured_ids(connection: sqlite3.Connection) -> list[str]:
    """Finished runs without a recorded size, the newest first."""
    rows = connection.execute(
        "SELECT run_id FROM run JOIN run_digest ON run_digest.run = key"
        " WHERE disk_bytes IS NULL AND state IN (SELECT value FROM json_each(?))"
        " ORDER BY key DESC",
        (as_json_list(FINAL_STATES),),
    )
    return [run_id for (run_id,) in rows]


def encode_texts(texts: Sequence[str]) -> str:
    return msgspec.json.encode(texts).decode()


def decode_texts(column: str) -> tuple[str, ...]:
    return msgspec.json.decode(column, type=tuple[str, ...])


def build_search_text(*parts: str) -> str:
    """The text that a search matches against, case-folded."""
    return "\n".join(map(fold_case, parts))


def fold_case(text: str) -> str:
    return text.casefold()


def _readable_record(row: tuple[Any, ...], tags: tuple[str, ...]) -> RunRecord:
    """The record; a row with a value of another type is shown as damaged, and fails no list."""
    fields = dict(zip(_RUN_FIELDS, row[1:], strict=False))
    try:
        record = msgspec.convert({**fields, **_decoded(fields), "tags": tags}, RunRecord)
        _check_ranges(record)
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        return _damaged_record(str(fields["run_id"]), tags, error)
    try:
        return msgspec.structs.replace(record, digest=_stats(row[1 + len(_RUN_FIELDS) :]))
    except msgspec.ValidationError as error:
        warning = f"Its statistics in the registry are damaged: {error}."
        return msgspec.structs.replace(record, warnings=(*record.warnings, warning))


def _decoded(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that SQLite stores as another type."""
    return {
        "archived": bool(fields["archived"]),
        "imported": bool(fields["imported"]),
        "warnings": decode_texts(fields["warnings"]),
    }


def _check_ranges(record: RunRecord) -> None:
    for name in ("exit_code", "priority"):
        if not -_MAX_INT32 <= (getattr(record, name) or 0) <= _MAX_INT32:
            raise ValueError(f"`{name}` is out of range")


def _stats(values: tuple[Any, ...]) -> RunStats:
    if _NAN in values:
        values = tuple(
            math.nan if value == _NAN and index != _TEXT_IN_DIGEST else value
            for index, value in enumerate(values)
        )
    return msgspec.convert(dict(zip(_DIGEST_FIELDS, values, strict=True)), RunStats)


def _damaged_record(run_id: str, tags: tuple[str, ...], error: Exception) -> RunRecord:
    return RunRecord(
        run_id=run_id,
        worker="",
        mode="train",
        env_id="",
        seed=0,
        state=RunState.LOST,
        reason=f"Its row in the registry is damaged: {error}.",
        remedy="Export its files if you need them (`mosaic runs export`), then delete the run.",
        created_at=ulid_time_ms(run_id) / 1000 if is_ulid(run_id) else 0.0,
        tags=tags,
    )


def _fetch_tags(connection: sqlite3.Connection, keys: list[int]) -> dict[int, tuple[str, ...]]:
    tags: defaultdict[int, tuple[str, ...]] = defaultdict(tuple)
    if keys:
        for key, tag in connection.execute(
            "SELECT run, tag FROM run_tag WHERE run IN (SELECT value FROM json_each(?))"
            " ORDER BY run, tag",
            (as_json_list(keys),),
        ):
            tags[key] += (tag,)
    return tags


def _queue_position(connection: sqlite3.Connection, key: int, run: RunRecord) -> int | None:
    if run.state is not RunState.QUEUED:
        return None
    (ahead,) = connection.execute(
        "SELECT count(*) FROM run WHERE state = 'queued'"
        " AND (priority > :priority OR priority = :priority AND key < :key)",
        {"priority": run.priority, "key": key},
    ).fetchone()
    return int(ahead) + 1


def _storable_number(value: float | str | None) -> float | str | None:
    return _NAN if isinstance(value, float) and math.isnan(value) else value


_SELECT_EARLIER = """
    SELECT max(ended_at - started_at - paused_s, 0.0), sps, rss_bytes, steps
    FROM run CROSS JOIN run_digest ON run_digest.run = key
    WHERE worker = ? AND algo = ? AND env_id = ? AND state = 'succeeded'
        -- The duration is unknown if the clock was set back in between.
        AND started_at <= ended_at
    ORDER BY key DESC LIMIT ?
"""


class EarlierRun(msgspec.Struct, kw_only=True, frozen=True):
    """Duration and resource usage of a run that succeeded."""

    duration_s: float
    """Without pauses."""
    sps: float | None
    rss_bytes: int | None
    steps: int


def fetch_earlier_runs(
    connection: sqlite3.Connection, worker: str, algo: str, env_id: str, limit: int
) -> list[EarlierRun]:
    """Newest first."""
    rows = connection.execute(_SELECT_EARLIER, (worker, algo, env_id, limit))
    return [
        EarlierRun(
            duration_s=duration_s,
            sps=None if isinstance(sps, str) else sps,  # NaN is useless for an estimate
            rss_bytes=rss_bytes,
            steps=steps,
        )
        for duration_s, sps, rss_bytes, steps in rows
    ]
