"""Pages of a run's episodes in any order, fast for a million episodes.

Pages in order of number use the index of the table. For any other order or filter, the first pages
are requested most often: one scan of all episodes finds them. For later pages a ranking is
built once and cached for a while. The writer needs no additional index for this.
"""

import sqlite3
import threading
import time
from array import array
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import chain

from mosaic.contract.episodes import EpisodePage, EpisodeQuery
from mosaic.telemetry import counters
from mosaic.telemetry.reader import TelemetryReader, select_rollups

_RETURN = "coalesce(reported_return, reward_sum)"
_IS_FINISHED = "(end_event IS NOT NULL OR terminated OR truncated)"
_ENDED = {
    "": "1",
    "over": _IS_FINISHED,
    "terminated": "terminated",
    "truncated": "truncated",
    "open": f"NOT {_IS_FINISHED}",
}
# NaN is stored as text; it is last in either direction.
_ORDER = {
    "episode": "ordinal {direction}",
    "return": f"typeof({_RETURN}) = 'text', {_RETURN} {{direction}}, ordinal",
    "steps": "steps {direction}, ordinal",
}
_MAX_UNRANKED_ROWS = 1_000
"""Pages that end before this row need no ranking."""
_MAX_RANKED = 4_000_000
"""Total number of episodes in all cached rankings, of eight bytes each."""
_MIN_LIFETIME_S = 0.5
_LIFETIME_PER_BUILD_TIME = 20.0
"""Lifetime of a ranking of a live run, as a multiple of the time it took to build."""


@dataclass(slots=True)
class _Ranking:
    """Keys of episodes in order, as of one revision."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    keys: "array[int] | None" = None
    revision: int = -1
    valid_until: float = 0.0


class EpisodePages:
    """Caches rankings of all runs of a daemon. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rankings: OrderedDict[tuple[str, EpisodeQuery], _Ranking] = OrderedDict()

    def page(
        self,
        run_id: str,
        reader: TelemetryReader,
        query: EpisodeQuery,
        first: int,
        count: int,
        now: float | None = None,
    ) -> EpisodePage:
        """Return the matching episodes `first` to `first + count` (excluded), and their number.

        For a live run, the ranking may be slightly out of date.
        """
        connection = reader.connection
        if query == EpisodeQuery(descending=query.descending):
            return _by_number(connection, query.descending, first, count)
        ranking = self._ranking(run_id, query)
        if ranking.keys is None and first + count <= _MAX_UNRANKED_ROWS:
            return _first_page(connection, query, first, count)
        keys = self._ranked(connection, query, ranking, time.monotonic() if now is None else now)
        page_keys = keys[first : first + count]
        rows = select_rollups(
            connection, f"WHERE key IN ({','.join(map(str, page_keys))}) ORDER BY key"
        )
        by_key = dict(zip(sorted(page_keys), rows, strict=True))
        return EpisodePage(episodes=tuple(by_key[key] for key in page_keys), total=len(keys))

    def _ranking(self, run_id: str, query: EpisodeQuery) -> _Ranking:
        with self._lock:
            ranking = self._rankings.setdefault((run_id, query), _Ranking())
            self._rankings.move_to_end((run_id, query))
            while len(self._rankings) > 1 and self._size() > _MAX_RANKED:
                self._rankings.popitem(last=False)
            return ranking

    def _size(self) -> int:
        # Rankings without keys count too, or they would accumulate without limit.
        return sum(len(ranking.keys or ()) + 10_000 for ranking in self._rankings.values())

    def _ranked(
        self,
        connection: sqlite3.Connection,
        query: EpisodeQuery,
        ranking: _Ranking,
        now: float,
    ) -> "array[int]":
        with ranking.lock:
            revision = _single(connection, "SELECT coalesce(max(revision), 0) FROM episode")
            is_valid = ranking.revision == revision or (
                # A lower revision means that the store was rebuilt with other keys.
                ranking.revision < revision and now < ranking.valid_until
            )
            if ranking.keys is None or not is_valid:
                started = time.monotonic()
                condition, values = _condition(query)
                rows = connection.execute(
                    f"SELECT key FROM episode WHERE {condition} ORDER BY {_order(query)}",  # noqa: S608 - our SQL
                    values,
                )
                ranking.keys = array("q", chain.from_iterable(rows))
                ranking.revision = revision
                build_s = time.monotonic() - started
                ranking.valid_until = now + max(_MIN_LIFETIME_S, build_s * _LIFETIME_PER_BUILD_TIME)
            return ranking.keys


def _by_number(
    connection: sqlite3.Connection, descending: bool, first: int, count: int
) -> EpisodePage:
    total = counters.read_counters(connection).get(counters.EPISODES, 0)
    lowest = _single(connection, "SELECT coalesce(min(ordinal), 0) FROM episode")
    highest = _single(connection, "SELECT coalesce(max(ordinal), -1) FROM episode")
    end = min(first + count, total)
    if first >= end:
        return EpisodePage(episodes=(), total=total)
    start = total - end if descending else first
    if highest - lowest + 1 == total:
        where, values = "WHERE ordinal >= ? ORDER BY ordinal LIMIT ?", (lowest + start, end - first)
    else:  # the worker skipped numbers
        where, values = "WHERE 1 ORDER BY ordinal LIMIT ? OFFSET ?", (end - first, start)
    rows = select_rollups(connection, where, *values)
    return EpisodePage(episodes=tuple(reversed(rows) if descending else rows), total=total)


def _first_page(
    connection: sqlite3.Connection, query: EpisodeQuery, first: int, count: int
) -> EpisodePage:
    condition, values = _condition(query)
    rows = select_rollups(
        connection,
        f"WHERE {condition} ORDER BY {_order(query)} LIMIT ? OFFSET ?",
        *values,
        count,
        first,
    )
    total = _single(connection, f"SELECT count(*) FROM episode WHERE {condition}", *values)  # noqa: S608 - our SQL
    return EpisodePage(episodes=tuple(rows), total=total)


def _condition(query: EpisodeQuery) -> tuple[str, tuple[float, ...]]:
    conditions, values = [_ENDED[query.ended]], []
    for bound, comparison in ((query.min_return, ">="), (query.max_return, "<=")):
        if bound is not None:
            conditions.append(f"typeof({_RETURN}) <> 'text' AND {_RETURN} {comparison} ?")
            values.append(bound)
    return " AND ".join(conditions), tuple(values)


def _order(query: EpisodeQuery) -> str:
    return _ORDER[query.order].format(direction="DESC" if query.descending else "ASC")


def _single(connection: sqlite3.Connection, statement: str, *values: float) -> int:
    value: int = connection.execute(statement, values).fetchone()[0]
    return value
