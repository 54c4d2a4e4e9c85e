"""Rows into a table, many with each statement: half of what a row costs is its statement."""

import sqlite3
from collections.abc import Sequence
from itertools import chain

_ROWS_AT_ONCE = 32


class BulkInsert:
    """Inserts rows of `columns` values with a statement such as `INSERT INTO table`."""

    def __init__(self, connection: sqlite3.Connection, statement: str, columns: int) -> None:
        row = f"({', '.join('?' * columns)})"
        self._connection = connection
        self._one = f"{statement} VALUES {row}"
        self._many = f"{statement} VALUES {', '.join([row] * _ROWS_AT_ONCE)}"

    def insert(self, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert them in their order."""
        rest = len(rows) - len(rows) % _ROWS_AT_ONCE
        self._connection.executemany(
            self._many,
            (
                tuple(chain.from_iterable(rows[start : start + _ROWS_AT_ONCE]))
                for start in range(0, rest, _ROWS_AT_ONCE)
            ),
        )
        self._connection.executemany(self._one, rows[rest:])
