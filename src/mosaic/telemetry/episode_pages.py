"""Pages of a run's episodes in any order, quickly also when there are a million of them.

By number a page is found through its index. For any other order, or a part of the episodes, it is
the first pages that are asked for most: those are found by one look at all episodes. For pages
further on a ranking is made once and kept for a while. Nothing of this is seen by the writer, who
has no index more to keep.
"""

import sqlite3
import threading
import time
from array import array
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import chain

from mosaic.contract.rollups import EpisodeChoice, EpisodePage
from mosaic.telemetry import counters
from mosaic.telemetry.reader import TelemetryReader, rollups_of

_RETURN = "coalesce(reported_return, reward_sum)"
_IS_OVER = "(end_event IS NOT NULL OR terminated OR truncated)"
_ENDED = {
    "": "1",
    "over": _IS_OVER,
    "terminated": "terminated",
    "truncated": "truncated",
    "open": f"NOT {_IS_OVER}",
}
# NaN is stored as its word; it comes last, whichever way round.
_ORDER = {
    "episode": "ordinal {way}",
    "return": f"typeof({_RETURN}) = 'text', {_RETURN} {{way}}, ordinal",
    "steps": "steps {way}, ordinal",
}
_FOUND_AT_ONCE = 1_000
"""Rows from the start that need no ranking."""
_MOST_RANKED = 4_000_000
"""Episodes in all rankings together, of eight bytes each."""
_LEAST_AGE_S = 0.5
_AGE_PER_BUILD = 20.0
"""A ranking of a run that goes on is made anew after so many times what making it took."""


@dataclass(slots=True)
class _Ranking:
    """Keys of episodes in an order, as it was at one revision."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    keys: "array[int] | None" = None
    revision: int = -1
    good_until: float = 0.0


class EpisodePages:
    """Keeps rankings. One for all runs of a daemon; any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rankings: OrderedDict[tuple[str, EpisodeChoice], _Ranking] = OrderedDict()

    def page(
        self,
        run_id: str,
        reader: TelemetryReader,
        choice: EpisodeChoice,
        first: int,
        count: int,
        now: float | None = None,
    ) -> EpisodePage:
        """Episodes `first` to `first + count` (excluded) of those chosen, and how many there are.

        Of a run that goes on, what is ranked may be a little old.
        """
        connection = reader.connection
        if choice == EpisodeChoice(descending=choice.descending):
            return _by_number(connection, choice.descending, first, count)
        ranking = self._ranking(run_id, choice)
        if ranking.keys is None and first + count <= _FOUND_AT_ONCE:
            return _first_ones(connection, choice, first, count)
        keys = self._ranked(connection, choice, ranking, time.monotonic() if now is None else now)
        wanted = keys[first : first + count]
        rows = rollups_of(connection, f"WHERE key IN ({','.join(map(str, wanted))}) ORDER BY key")
        by_key = dict(zip(sorted(wanted), rows, strict=True))
        return EpisodePage(episodes=tuple(by_key[key] for key in wanted), total=len(keys))

    def _ranking(self, run_id: str, choice: EpisodeChoice) -> _Ranking:
        with self._lock:
            ranking = self._rankings.setdefault((run_id, choice), _Ranking())
            self._rankings.move_to_end((run_id, choice))
            while len(self._rankings) > 1 and self._size() > _MOST_RANKED:
                self._rankings.popitem(last=False)
            return ranking

    def _size(self) -> int:
        # One without keys counts too, or asking for ever new ones would pile them up.
        return sum(len(each.keys or ()) + 10_000 for each in self._rankings.values())

    def _ranked(
        self,
        connection: sqlite3.Connection,
        choice: EpisodeChoice,
        ranking: _Ranking,
        now: float,
    ) -> "array[int]":
        with ranking.lock:
            revision = _single(connection, "SELECT coalesce(max(revision), 0) FROM episode")
            is_good = ranking.revision == revision or (
                # One that went back is of a store that was made anew, whose keys are others.
                ranking.revision < revision and now < ranking.good_until
            )
            if ranking.keys is None or not is_good:
                began = time.monotonic()
                condition, values = _condition(choice)
                rows = connection.execute(
                    f"SELECT key FROM episode WHERE {condition} ORDER BY {_order(choice)}",  # noqa: S608 - our words
                    values,
                )
                ranking.keys = array("q", chain.from_iterable(rows))
                ranking.revision = revision
                took_s = time.monotonic() - began
                ranking.good_until = now + max(_LEAST_AGE_S, took_s * _AGE_PER_BUILD)
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
    else:  # a worker that leaves numbers out
        where, values = "WHERE 1 ORDER BY ordinal LIMIT ? OFFSET ?", (end - first, start)
    rows = rollups_of(connection, where, *values)
    return EpisodePage(episodes=tuple(reversed(rows) if descending else rows), total=total)


def _first_ones(
    connection: sqlite3.Connection, choice: EpisodeChoice, first: int, count: int
) -> EpisodePage:
    condition, values = _condition(choice)
    rows = rollups_of(
        connection,
        f"WHERE {condition} ORDER BY {_order(choice)} LIMIT ? OFFSET ?",
        *values,
        count,
        first,
    )
    total = _single(connection, f"SELECT count(*) FROM episode WHERE {condition}", *values)  # noqa: S608 - our words
    return EpisodePage(episodes=tuple(rows), total=total)


def _condition(choice: EpisodeChoice) -> tuple[str, tuple[float, ...]]:
    parts, values = [_ENDED[choice.ended]], []
    for bound, comparison in ((choice.least_return, ">="), (choice.most_return, "<=")):
        if bound is not None:
            parts.append(f"typeof({_RETURN}) <> 'text' AND {_RETURN} {comparison} ?")
            values.append(bound)
    return " AND ".join(parts), tuple(values)


def _order(choice: EpisodeChoice) -> str:
    return _ORDER[choice.order].format(way="DESC" if choice.descending else "ASC")


def _single(connection: sqlite3.Connection, question: str, *values: float) -> int:
    answer: int = connection.execute(question, values).fetchone()[0]
    return answer
