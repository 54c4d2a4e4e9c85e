"""Changes to a run's rows, each within a transaction that the registry has started.

A state is changed by compare-and-set: row, history and event are written atomically.
"""

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import msgspec

from mosaic.contract.manifest import ArtifactManifest, encode_manifest
from mosaic.contract.run_config import TrainRunConfig, to_json
from mosaic.contract.run_events import (
    ArtifactPruned,
    ArtifactsAvailable,
    RunAnnotated,
    RunDeleted,
    StateChanged,
    WarningsChanged,
)
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, StateChange
from mosaic.trainer.registry import text_rules
from mosaic.trainer.registry.errors import (
    RequestIdReusedError,
    RunExistsError,
    StateConflictError,
    UnknownRunError,
)
from mosaic.trainer.registry.event_log import RunEventWriter
from mosaic.trainer.registry.run_rows import (
    Keyed,
    build_search_text,
    encode_texts,
    fetch_record,
)
from mosaic.trainer.registry.text_rules import storable, storable_all, storable_tail


@dataclass(frozen=True, slots=True)
class Change:
    """An open transaction, and its timestamp."""

    connection: sqlite3.Connection
    events: RunEventWriter
    now: float

    def existing(self, run_id: str) -> Keyed:
        keyed = fetch_record(self.connection, run_id)
        if keyed is None:
            raise UnknownRunError(run_id)
        return keyed


class NewState(msgspec.Struct, kw_only=True, frozen=True):
    """A run's new state and the fields that change with it. None leaves a field unchanged."""

    state: RunState
    reason: str = ""
    remedy: str = ""
    exit_code: int | None = None
    output_tail: Sequence[str] = ()
    started_at: float | None = None
    ended_at: float | None = None


def earlier_submission(change: Change, request_id: str, config: TrainRunConfig) -> str | None:
    """The id of the run that the same request created before; None if there is none."""
    row = change.connection.execute(
        "SELECT run_id, config FROM run JOIN run_document ON run = key WHERE request_id = ?",
        (text_rules.checked_request_id(request_id),),
    ).fetchone()
    if row is None:
        return None
    run_id, earlier_config = row
    if earlier_config != to_json(config):
        raise RequestIdReusedError(request_id, run_id)
    return str(run_id)


def insert_run(
    change: Change,
    run_id: str,
    config: TrainRunConfig,
    request_id: str,
    created_at: float,
    new: NewState,
    *,
    imported: bool = False,
) -> None:
    connection = change.connection
    if fetch_record(connection, run_id) is not None:
        raise RunExistsError(run_id)
    key = connection.execute(
        "INSERT INTO run (run_id, request_id, name, worker, mode, algo, env_id, seed, state,"
        " reason, remedy, created_at, priority, parent_run, imported)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', ?, ?, ?, ?)",
        (
            run_id,
            request_id or None,
            config.run_name or "",
            config.worker,
            config.mode,
            config.algo or "",
            config.env_id,
            config.seed,
            new.state,
            created_at,
            config.priority,
            config.parent_run,
            imported,
        ),
    ).lastrowid
    connection.execute("INSERT INTO run_digest (run) VALUES (?)", (key,))
    connection.execute(
        "INSERT INTO run_document (run, config, manifest) VALUES (?, ?, ?)",
        (key, to_json(config), encode_manifest(ArtifactManifest())),
    )
    _update_search_text(change, run_id)
    _enter(change, change.existing(run_id), new)


def change_state(
    change: Change, run_id: str, expected: Collection[RunState], new: NewState
) -> None:
    """Compare and set. Raises `StateConflictError`, and `ValueError` for an invalid transition."""
    key, run = change.existing(run_id)
    if run.state not in expected:
        raise StateConflictError(run_id, run.state, new.state)
    if not run.state.may_become(new.state):
        raise ValueError(f"a run that is {run.state} never becomes {new.state}")
    _enter(change, (key, run), new)


def _enter(change: Change, keyed: Keyed, new: NewState) -> None:
    key, run = keyed
    reason = storable(new.reason)
    started_at = run.started_at if new.started_at is None else new.started_at
    if started_at is None and new.state is RunState.RUNNING:
        started_at = change.now
    ended_at = run.ended_at if new.ended_at is None else new.ended_at
    if ended_at is None and new.state.is_final:
        ended_at = change.now
    exit_code = run.exit_code if new.exit_code is None else new.exit_code
    change.connection.execute(
        "UPDATE run SET state = ?, reason = ?, remedy = ?, exit_code = ?, started_at = ?,"
        " ended_at = ? WHERE key = ?",
        (new.state, reason, storable(new.remedy), exit_code, started_at, ended_at, key),
    )
    change.connection.execute(
        "INSERT INTO state_change (run, state, t, reason) VALUES (?, ?, ?, ?)",
        (key, new.state, change.now, reason),
    )
    if new.state.is_final:
        change.connection.execute(
            "UPDATE run_document SET output_tail = ? WHERE run = ?",
            (encode_texts(storable_tail(new.output_tail)), key),
        )
    change.events.append(
        run.run_id,
        change.now,
        StateChanged(
            change=StateChange(state=new.state, t=change.now, reason=reason), exit_code=exit_code
        ),
    )


def annotate(
    change: Change,
    run_id: str,
    add_tags: Collection[str],
    remove_tags: Collection[str],
    note: str | None,
    name: str | None,
    archived: bool | None,
) -> None:
    """A tag that is both removed and added is set afterwards."""
    key, run = change.existing(run_id)
    updated = msgspec.structs.replace(
        run,
        tags=_updated_tags(run, add_tags, remove_tags),
        note=run.note if note is None else text_rules.checked_note(note),
        name=run.name if name is None else text_rules.checked_name(name),
        archived=run.archived if archived is None else archived,
    )
    if updated == run:
        return
    connection = change.connection
    connection.execute(
        "UPDATE run SET note = ?, name = ?, archived = ? WHERE key = ?",
        (updated.note, updated.name, updated.archived, key),
    )
    connection.execute("DELETE FROM run_tag WHERE run = ?", (key,))
    connection.executemany(
        "INSERT INTO run_tag VALUES (?, ?)", ((key, tag) for tag in updated.tags)
    )
    _update_search_text(change, run_id)
    change.events.append(run_id, change.now, RunAnnotated())


def _updated_tags(
    run: RunRecord, add_tags: Collection[str], remove_tags: Collection[str]
) -> tuple[str, ...]:
    removed = {tag.strip() for tag in remove_tags}
    tags = set(run.tags) - removed | text_rules.checked_tags("add_tags", add_tags)
    text_rules.check_tag_count(tags)
    return tuple(sorted(tags))


def _update_search_text(change: Change, run_id: str) -> None:
    key, run = change.existing(run_id)
    change.connection.execute(
        "UPDATE run SET searched = ? WHERE key = ?",
        (
            build_search_text(
                run.run_id, run.name, run.env_id, run.algo, run.worker, *run.tags, run.note
            ),
            key,
        ),
    )


def set_manifest(change: Change, run_id: str, manifest: bytes) -> bool:
    key, _ = change.existing(run_id)
    changed = change.connection.execute(
        "UPDATE run_document SET manifest = ? WHERE run = ? AND manifest != ?",
        (manifest, key, manifest),
    ).rowcount
    if changed:
        change.events.append(run_id, change.now, ArtifactsAvailable(manifest_json=manifest))
    return bool(changed)


def record_pruned(change: Change, run_id: str, pruned: ArtifactPruned) -> None:
    change.existing(run_id)
    change.events.append(run_id, change.now, pruned)


def set_warnings(change: Change, run_id: str, warnings: Sequence[str]) -> None:
    key, run = change.existing(run_id)
    stored = storable_all(warnings)
    if stored != run.warnings:
        change.connection.execute(
            "UPDATE run SET warnings = ? WHERE key = ?", (encode_texts(stored), key)
        )
        change.events.append(run_id, change.now, WarningsChanged())


def delete_run(change: Change, run_id: str) -> None:
    key, _ = change.existing(run_id)
    change.connection.execute("DELETE FROM run WHERE key = ?", (key,))
    change.events.append(run_id, change.now, RunDeleted())
