"""All lines that are neither steps nor metrics: one row each, as they came."""

import sqlite3
from collections.abc import Sequence
from itertools import count, repeat

from mosaic.telemetry.bulk_insert import BulkInsert


class EventWriter:
    """Appends rows to the `event` table; `seq` numbers them from 0."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._rows = BulkInsert(connection, "INSERT INTO event", columns=3)
        self._pending: list[tuple[int, str, bytes]] = []
        (self._next_seq,) = connection.execute(
            "SELECT coalesce(max(seq), -1) + 1 FROM event"
        ).fetchone()

    def add(self, kind: str, line: bytes) -> int:
        """Keep a line; its `seq`."""
        return self.add_all(kind, [line])

    def add_all(self, kind: str, lines: Sequence[bytes]) -> int:
        """Keep lines of one type; the `seq` of the first."""
        first: int = self._next_seq
        self._next_seq += len(lines)
        self._pending += zip(count(first), repeat(kind), lines, strict=False)
        return first

    def flush(self) -> None:
        self._rows.insert(self._pending)
        self._pending.clear()
