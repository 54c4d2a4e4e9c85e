"""All lines that are neither steps nor metrics: one row each, as they came."""

import sqlite3


class EventWriter:
    """Appends rows to the `event` table; `seq` numbers them from 0."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pending: list[tuple[int, str, bytes]] = []
        (self._next_seq,) = connection.execute(
            "SELECT coalesce(max(seq), -1) + 1 FROM event"
        ).fetchone()

    def add(self, kind: str, line: bytes) -> int:
        """Keep a line; its `seq`."""
        seq: int = self._next_seq
        self._next_seq += 1
        self._pending.append((seq, kind, line))
        return seq

    def flush(self) -> None:
        self._connection.executemany("INSERT INTO event VALUES (?, ?, ?)", self._pending)
        self._pending.clear()
