"""Counters of ingest, committed in the same transaction as the rows they count."""

import sqlite3
from collections.abc import Iterable, Mapping

OFFSET = "offset"
"""Number of bytes of the spool that are in the store."""
REJECTS_BYTES = "rejects_bytes"
LINES = "lines"
BLANK = "blank"
NORMALISED = "normalised"
STEPS = "steps"
EPISODES = "episodes"
MIXED_EPISODES = "mixed_episodes"
"""Episodes whose id several agents used."""
METRIC_POINTS = "metric_points"
TYPE_PREFIX = "type:"
UNKNOWN_PREFIX = "unknown:"
REJECT_PREFIX = "reject:"

_MAX_NAMES = 1_000
_MAX_VALUE = 1 << 62
_OVERFLOW = "(others)"


class Counters:
    """Counts in memory; `flush` writes the counters that changed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._values = read_counters(connection)
        for name, value in self._values.items():
            if not isinstance(value, int) or not 0 <= value < _MAX_VALUE:
                raise ValueError(f"counter {name} is {value!r}")
        self._changed: set[str] = set()

    def __getitem__(self, name: str) -> int:
        return self._values.get(name, 0)

    def __setitem__(self, name: str, value: int) -> None:
        self._values[name] = value
        self._changed.add(name)

    def increment(self, name: str, by: int = 1) -> None:
        self[name] = self[name] + by

    def increment_named(self, prefix: str, name: str) -> None:
        """Count under a name that a worker chose; the number of such names is limited."""
        full = prefix + name[:64]
        if full not in self._values and len(self._values) >= _MAX_NAMES:
            full = prefix + _OVERFLOW
        self.increment(full)

    def flush(self) -> None:
        rows: Iterable[tuple[str, int]] = ((name, self._values[name]) for name in self._changed)
        self._connection.executemany("INSERT OR REPLACE INTO counter VALUES (?, ?)", rows)
        self._changed.clear()


def read_counters(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT name, value FROM counter"))


def with_prefix(counters: Mapping[str, int], prefix: str) -> dict[str, int]:
    """Return the counters whose name starts with `prefix`, without the prefix."""
    return {
        name.removeprefix(prefix): value
        for name, value in sorted(counters.items())
        if name.startswith(prefix)
    }
