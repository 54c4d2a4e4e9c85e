"""What happened to runs, numbered, for those who watch and those who come back.

A number is never used twice. An event keeps only what the run itself does not: the output of a run
that ended and its artifacts are read from the run as it is now, and an older notice of artifacts
makes room for a newer one. So the log stays small however much a run has to say.
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
"""How many of the newest events are kept, at least."""

_NO_MANIFEST = b"{}"
_decoder = msgspec.json.Decoder(RunEventBody)


class RunEventWriter:
    """Appends events within one transaction of the registry."""

    def __init__(self, connection: sqlite3.Connection, kept: int) -> None:
        self._connection = connection
        self._kept = kept
        self.has_written = False

    def append(self, run_id: str, t: float, what: RunEventBody) -> None:
        if isinstance(what, StateChanged):
            what = msgspec.structs.replace(what, output_tail=())
        elif isinstance(what, ArtifactsAvailable):
            what = ArtifactsAvailable(manifest_json=b"")
            self._forget_earlier(run_id, what)
        self._connection.execute(
            "INSERT INTO event (t, run_id, what) VALUES (?, ?, ?)", (t, run_id, _encode(what))
        )
        self.has_written = True
        self._forget_oldest()

    def begin_after(self, seq: int) -> None:
        """Number on from `seq`, and take what came before for forgotten."""
        self._connection.execute("INSERT INTO sqlite_sequence VALUES ('event', ?)", (seq,))
        self._connection.execute("UPDATE event_horizon SET forgotten = ?", (seq,))

    def _forget_earlier(self, run_id: str, what: RunEventBody) -> None:
        self._connection.execute(
            "DELETE FROM event WHERE run_id = ? AND what = ?", (run_id, _encode(what))
        )

    def _forget_oldest(self) -> None:
        """Now and then, a hundredth of the log at a time."""
        oldest_kept = last_event_seq(self._connection) - self._kept
        if oldest_kept - forgotten_through(self._connection) > self._kept // 100:
            self._connection.execute("DELETE FROM event WHERE seq <= ?", (oldest_kept,))
            self._connection.execute("UPDATE event_horizon SET forgotten = ?", (oldest_kept,))


def last_event_seq(connection: sqlite3.Connection) -> int:
    """The number of the newest event there ever was; 0 before the first."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    return row[0] if row else 0


def forgotten_through(connection: sqlite3.Connection) -> int:
    """The number of the newest event that is no longer kept; 0 when all are."""
    (seq,) = connection.execute("SELECT forgotten FROM event_horizon").fetchone()
    return int(seq)


def fetch_events(
    connection: sqlite3.Connection, after: int, limit: int, run_ids: Collection[str], now: float
) -> list[RunEvent]:
    """At most `limit` events after the number `after`, each with its run as it is now.

    Who asks from before what is kept, or from a number that was never given out (the registry was
    made anew since), is told so first.
    """
    horizon = forgotten_through(connection)
    last = last_event_seq(connection)
    after = max(after, 0)
    told: list[RunEvent] = []
    if not horizon <= after <= last:
        after = horizon if after < horizon else last
        told = [RunEvent(seq=after, t=now, run_id="", what=EventsForgotten())]
    condition = "AND run_id IN (SELECT value FROM json_each(?))" if run_ids else ""
    rows = connection.execute(
        f"SELECT seq, t, run_id, what FROM event WHERE seq > ? {condition}"  # noqa: S608
        " ORDER BY seq LIMIT ?",
        (after, *([as_json_list(run_ids)] if run_ids else []), max(limit - len(told), 0)),
    ).fetchall()
    return told + _with_their_runs(connection, rows)


def _with_their_runs(
    connection: sqlite3.Connection, rows: list[tuple[int, float, str, str]]
) -> list[RunEvent]:
    bodies = [_decoder.decode(what) for *_, what in rows]
    runs = fetch_records_by_id(connection, {run_id for _, _, run_id, _ in rows})
    bare = {run_id for (_, _, run_id, _), what in zip(rows, bodies, strict=True) if _is_bare(what)}
    documents = _fetch_documents(connection, bare)
    return [
        RunEvent(
            seq=seq,
            t=t,
            run_id=run_id,
            run=runs.get(run_id),
            what=_completed(what, *documents.get(run_id, ((), _NO_MANIFEST))),
        )
        for (seq, t, run_id, _), what in zip(rows, bodies, strict=True)
    ]


def _is_bare(what: RunEventBody) -> bool:
    return isinstance(what, ArtifactsAvailable) or (
        isinstance(what, StateChanged) and what.change.state.is_final
    )


def _completed(what: RunEventBody, tail: tuple[str, ...], manifest: bytes) -> RunEventBody:
    if not _is_bare(what):
        return what
    if isinstance(what, StateChanged):
        return msgspec.structs.replace(what, output_tail=tail)
    return ArtifactsAvailable(manifest_json=manifest)


def _fetch_documents(
    connection: sqlite3.Connection, run_ids: Collection[str]
) -> dict[str, tuple[tuple[str, ...], bytes]]:
    """Output and manifest of those of the runs that exist."""
    if not run_ids:
        return {}
    rows = connection.execute(
        "SELECT run_id, output_tail, manifest FROM run JOIN run_document ON run = key"
        " WHERE run_id IN (SELECT value FROM json_each(?))",
        (as_json_list(run_ids),),
    )
    return {run_id: (decode_texts(tail), manifest) for run_id, tail, manifest in rows}


def _encode(what: RunEventBody) -> str:
    return msgspec.json.encode(what).decode()
