"""Metrics as columns with a min/max pyramid.

Level 0 holds the points. An item of level k + 1 aggregates `FAN_OUT` consecutive items of level k:
it stores the smallest and the largest point, each with its own step and time, so that a spike stays
visible at its position at any zoom. Only complete groups are aggregated; the remaining items of a
level are read from that level.
"""

from __future__ import annotations  # array[float] is not subscriptable before Python 3.12

import math
import sqlite3
from array import array
from collections.abc import Callable, Sequence

import zstandard

from mosaic.contract import numbers
from mosaic.contract.compression import decompress
from mosaic.contract.events import Metric, absolute_time
from mosaic.telemetry import counters
from mosaic.telemetry.chunks import ChunkWriter

FAN_OUT = 8
CHUNK_ITEMS = 512  # a multiple of FAN_OUT: an incomplete group is always in the tail of its level
POINT_COLUMNS = 3  # step, t, value
EXTREME_COLUMNS = 6  # the smallest point, then the largest
_MAX_CACHED = 256
_MAX_CHUNK_BYTES = CHUNK_ITEMS * EXTREME_COLUMNS * 8


def pack(columns: list[array[float]]) -> bytes:
    return zstandard.ZstdCompressor(level=1).compress(b"".join(c.tobytes() for c in columns))


def unpack(data: bytes, columns: int) -> list[array[float]]:
    raw = decompress(data, _MAX_CHUNK_BYTES)
    length = len(raw) // columns
    return [array("d", raw[i * length : (i + 1) * length]) for i in range(columns)]


class _Level:
    """The tail of one level of one curve."""

    __slots__ = ("changed", "columns", "number")

    def __init__(self, number: int, columns: list[array[float]]) -> None:
        self.number = number
        self.columns = columns
        self.changed = False


class _Axis:
    """Last value of a curve on one axis, and whether the axis is monotonic so far."""

    __slots__ = ("is_monotonic", "last")

    def __init__(self, last: float | None, is_monotonic: int) -> None:
        self.last = math.nan if last is None else last
        self.is_monotonic = bool(is_monotonic)

    def record(self, x: float) -> None:
        if math.isnan(x) or x < self.last:
            self.is_monotonic = False
        self.last = x


class _Curve:
    """One series; of each level only the tail is in memory."""

    __slots__ = ("changed", "key", "levels", "points", "step", "t")

    def __init__(self, key: int, points: int, step: _Axis, t: _Axis, levels: list[_Level]) -> None:
        self.key = key
        self.points = points
        self.step = step
        self.t = t
        self.levels = levels
        self.changed = False


class CurveWriter:
    """Appends points to curves. Readers see nothing before `flush` and a commit."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._curves: dict[tuple[str, str], _Curve] = {}

    def add(self, agent_id: str, name: str, step: float, t: float, value: float) -> None:
        """Add a point. NaN as step means its index, NaN as time the time of the last point."""
        curve = self._curves.get((agent_id, name))
        if curve is None:
            curve = self._curves[agent_id, name] = self._open(agent_id, name)
        if math.isnan(step):
            step = float(curve.points)
        if math.isnan(t):
            t = curve.t.last
        curve.step.record(step)
        curve.t.record(t)
        curve.points += 1
        curve.changed = True
        self._append(curve, 0, (step, t, value))

    def flush(self) -> None:
        """Write the tails that changed."""
        for curve in self._curves.values():
            if curve.changed:
                self._connection.execute(
                    "UPDATE series SET points = ?, last_step = ?, step_grows = ?, last_t = ?,"
                    " t_grows = ? WHERE key = ?",
                    (
                        curve.points,
                        curve.step.last,
                        curve.step.is_monotonic,
                        curve.t.last,
                        curve.t.is_monotonic,
                        curve.key,
                    ),
                )
                for number, level in enumerate(curve.levels):
                    self._write(curve, number, level)
                curve.changed = False
        while len(self._curves) > _MAX_CACHED:
            del self._curves[next(iter(self._curves))]

    def _append(self, curve: _Curve, number: int, item: tuple[float, ...]) -> None:
        if number == len(curve.levels):
            curve.levels.append(_Level(0, _empty(number)))
        level = curve.levels[number]
        for column, value in zip(level.columns, item, strict=True):
            column.append(value)
        level.changed = True
        count = len(level.columns[0])
        if count % FAN_OUT == 0:
            self._append(curve, number + 1, extremes(level.columns, count - FAN_OUT, count))
            if count == CHUNK_ITEMS:
                self._write(curve, number, level)
                curve.levels[number] = _Level(level.number + 1, _empty(number))

    def _write(self, curve: _Curve, number: int, level: _Level) -> None:
        if not level.changed:
            return
        steps, times, *_ = level.columns
        self._connection.execute(
            "INSERT OR REPLACE INTO curve_chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                curve.key,
                number,
                level.number,
                len(steps),
                *_range(steps),
                *_range(times),
                pack(level.columns),
            ),
        )
        level.changed = False

    def _open(self, agent_id: str, name: str) -> _Curve:
        self._connection.execute(
            "INSERT OR IGNORE INTO series VALUES (NULL, ?, ?, 0, NULL, 1, NULL, 1)",
            (agent_id, name),
        )
        key, points, last_step, step_grows, last_t, t_grows = self._connection.execute(
            "SELECT key, points, last_step, step_grows, last_t, t_grows FROM series"
            " WHERE agent_id = ? AND name = ?",
            (agent_id, name),
        ).fetchone()
        levels: list[_Level] = []
        tails = self._connection.execute(
            "SELECT level, max(number), items, data FROM curve_chunk WHERE series = ?"
            " GROUP BY level ORDER BY level",
            (key,),
        )
        for number, chunk, items, data in tails:
            if items == CHUNK_ITEMS:
                levels.append(_Level(chunk + 1, _empty(number)))
            else:
                levels.append(_Level(chunk, unpack(data, width(number))))
        return _Curve(key, points, _Axis(last_step, step_grows), _Axis(last_t, t_grows), levels)


class MetricWriter:
    """Stores metric lines in order of arrival and adds their values to the curves."""

    def __init__(
        self, connection: sqlite3.Connection, counts: counters.Counters, run_started: float | None
    ) -> None:
        self._counts = counts
        self._run_started = run_started
        self._chunks = ChunkWriter(connection, "metric_chunk")
        self._curves = CurveWriter(connection)

    def add(self, event: Metric, line: bytes) -> None:
        agent_id = event.agent_id or ""
        step = math.nan if event.step is None else float(event.step)
        t = math.nan
        if event.t is not None:
            t = absolute_time(numbers.as_float(event.t), self._run_started)
        if event.values is not None:
            for name, value in event.values.items():
                self._curves.add(agent_id, name, step, t, numbers.as_float(value))
            self._counts.increment(counters.METRIC_POINTS, len(event.values))
        elif event.name is not None and event.value is not None:
            self._curves.add(agent_id, event.name, step, t, numbers.as_float(event.value))
            self._counts.increment(counters.METRIC_POINTS)
        self._chunks.extend([line])

    def flush(self) -> None:
        self._chunks.flush()
        self._curves.flush()


def _range(values: array[float]) -> tuple[float, float] | tuple[None, None]:
    known = [value for value in values if not math.isnan(value)]
    return (min(known), max(known)) if known else (None, None)


def _empty(level: int) -> list[array[float]]:
    return [array("d") for _ in range(width(level))]


def width(level: int) -> int:
    """Return the number of columns of an item of that level."""
    return EXTREME_COLUMNS if level else POINT_COLUMNS


def extremes(columns: Sequence[array[float]], start: int, end: int) -> tuple[float, ...]:
    """Return the smallest and the largest point of the items `start` to `end`, ignoring NaN."""
    low = start + _index_of(columns[2][start:end], min)
    high = start + _index_of(columns[-1][start:end], max)
    return (
        columns[0][low],
        columns[1][low],
        columns[2][low],
        columns[-3][high],
        columns[-2][high],
        columns[-1][high],
    )


def _index_of(values: array[float], pick: Callable[[Sequence[float]], float]) -> int:
    if not math.isnan(sum(values)):
        return values.index(pick(values))
    comparable = [value for value in values if not math.isnan(value)]
    return values.index(pick(comparable)) if comparable else 0
