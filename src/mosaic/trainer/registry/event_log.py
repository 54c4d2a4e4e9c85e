"""The numbered log of run events, for clients that watch or reconnect.

A number is never reused. An event stores only what the run's own rows do not: the output of an
ended run and its artifacts are read from the current run, and a newer event about artifacts
replaces the older one. So the log stays small.
"""

import sqlite3
from collections.abc import Collection

import msgspec

from mosaic.contract.run_events import (
    ArtifactsAvailable,
    EventsForgotten,
    RunEvent,
    RunEventBody,
    StateChanged,
)
from mosaic.trainer.registry.run_rows import as_json_list, decode_texts, fetch_records_by_id

KEPT_EVENTS = 100_000
"""Number of newest events that are always kept."""

_NO_MANIFEST = b"{}"
_decoder = msgspec.json.Decoder(RunEventBody)


class RunEventWriter:
    """Appends events within one transaction of the registry."""

    def __init__(self, connection: sqlite3.Connection, kept_events: int) -> None:
        self._connection = connection
        self._kept_events = kept_events
        self.has_written = False

    def append(self, run_id: str, t: float, body: RunEventBody) -> None:
        if isinstance(body, StateChanged):
            body = msgspec.structs.replace(body, output_tail=())
        elif isinstance(body, ArtifactsAvailable):
            body = ArtifactsAvailable(manifest_json=b"")
            self._delete_earlier(run_id, body)
        self._connection.execute(
            "INSERT INTO event (t, run_id, what) VALUES (?, ?, ?)", (t, run_id, _encode(body))
        )
        self.has_written = True
        self._delete_oldest()

    def continue_after(self, seq: int) -> None:
        """Continue numbering after `seq`, and mark everything before as deleted."""
        self._connection.execute("INSERT INTO sqlite_sequence VALUES ('event', ?)", (seq,))
        self._connection.execute("UPDATE event_horizon SET forgotten = ?", (seq,))

    def _delete_earlier(self, run_id: str, body: RunEventBody) -> None:
        self._connection.execute(
            "DELETE FROM event WHERE run_id = ? AND what = ?", (run_id, _encode(body))
        )

    def _delete_oldest(self) -> None:
        """Delete the oldest events, a hundredth of the log at a time."""
        last_deleted = last_event_seq(self._connection) - self._kept_events
        if last_deleted - forgotten_through(self._connection) > self._kept_events // 100:
            self._connection.execute("DELETE FROM event WHERE seq <= ?", (last_deleted,))
            self._connection.execute("UPDATE event_horizon SET forgotten = ?", (last_deleted,))


def last_event_seq(connection: sqlite3.Connection) -> int:
    """The number of the newest event ever; 0 before the first."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    return row[0] if row else 0


def forgotten_through(connection: sqlite3.Connection) -> int:
    """The number of the newest deleted event; 0 when none was deleted."""
    (seq,) = connection.execute("SELECT forgotten FROM event_horizon").fetchone()
    return int(seq)


def fetch_events(
    connection: sqlite3.Connection, after: int, limit: int, run_ids: Collection[str], now: float
) -> list[RunEvent]:
    """At most `limit` events after the number `after`, each with the current state of its run.

    `EventsForgotten` comes first if `after` is older than the stored events, or a number that was
    never used (the registry was rebuilt since).
    """
    horizon = forgotten_through(connection)
    last = last_event_seq(connection)
    after = max(after, 0)
    events: list[RunEvent] = []
    if not horizon <= after <= last:
        after = horizon if after < horizon else last
        events = [RunEvent(seq=after, t=now, run_id="", what=EventsForgotten())]
    condition = "AND run_id IN (SELECT value FROM json_each(?))" if run_ids else ""
    rows = connection.execute(
        f"SELECT seq, t, run_id, what FROM event WHERE seq > ? {condition}"  # noqa: S608
        " ORDER BY seq LIMIT ?",
        (after, *([as_json_list(run_ids)] if run_ids else []), max(limit - len(events), 0)),
    ).fetchall()
    return events + _attach_runs(connection, rows)


def _attach_runs(
    connection: sqlite3.Connection, rows: list[tuple[int, float, str, str]]
) -> list[RunEvent]:
    bodies = [_decoder.decode(body) for *_, body in rows]
    runs = fetch_records_by_id(connection, {run_id for _, _, run_id, _ in rows})
    incomplete_ids = {
        run_id for (_, _, run_id, _), body in zip(rows, bodies, strict=True) if _is_incomplete(body)
    }
    documents = _fetch_documents(connection, incomplete_ids)
    return [
        RunEvent(
            seq=seq,
            t=t,
            run_id=run_id,
            run=runs.get(run_id),
            what=_complete(body, *documents.get(run_id, ((), _NO_MANIFEST))),
        )
        for (seq, t, run_id, _), body in zip(rows, bodies, strict=True)
    ]


def _is_incomplete(body: RunEventBody) -> bool:
    return isinstance(body, ArtifactsAvailable) or (
        isinstance(body, StateChanged) and body.change.state.is_final
    )


def _complete(body: RunEventBody, tail: tuple[str, ...], manifest: bytes) -> RunEventBody:
    if not _is_incomplete(body):
        return body
    if isinstance(body, StateChanged):
        return msgspec.structs.replace(body, output_tail=tail)
    return ArtifactsAvailable(manifest_json=manifest)


def _fetch_documents(
    connection: sqlite3.Connection, run_ids: Collection[str]
) -> dict[str, tuple[tuple[str, ...], bytes]]:
    """Output and manifest of those runs that exist."""
    if not run_ids:
        return {}
    rows = connection.execute(
        "SELECT run_id, output_tail, manifest FROM run JOIN run_document ON run = key"
        " WHERE run_id IN (SELECT value FROM json_each(?))",
        (as_json_list(run_ids),),
    )
    return {run_id: (decode_texts(tail), manifest) for run_id, tail, manifest in rows}


def _encode(body: RunEventBody) -> str:
    return msgspec.json.encode(body).decode()
