"""Reads any range of a curve in a limited number of points, using the pyramid."""

from __future__ import annotations  # array[float] is not subscriptable before Python 3.12

import math
import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

from mosaic.telemetry.curves import CHUNK_ITEMS, FAN_OUT, extremes, unpack, width

Axis = Literal["step", "t"]
_AXIS_COLUMN: dict[Axis, int] = {"step": 0, "t": 1}


class SeriesInfo(NamedTuple):
    """A stored curve."""

    key: int
    agent_id: str | None
    name: str
    points: int


class SampledCurve(msgspec.Struct, frozen=True):
    """A curve ready to plot. `points` is the number of points in the requested range.

    When they exceed the limit, each bucket is represented by its smallest and its largest point.
    """

    x: list[float]
    y: list[float]
    points: int


class CurveReader:
    """Reads the curves of one run."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def series(self) -> list[SeriesInfo]:
        rows = self._connection.execute("SELECT key, agent_id, name, points FROM series")
        series = [SeriesInfo(key, agent or None, name, points) for key, agent, name, points in rows]
        return sorted(series, key=lambda info: (info.name, info.agent_id or ""))

    def curve(
        self,
        name: str,
        agent_id: str,
        max_points: int,
        axis: Axis,
        first: float | None,
        last: float | None,
    ) -> SampledCurve:
        """Return the curve between `first` and `last` on `axis`, in at most `max_points` points."""
        row = self._connection.execute(
            "SELECT key FROM series WHERE agent_id = ? AND name = ?", (agent_id, name)
        ).fetchone()
        if row is None:
            return SampledCurve([], [], 0)
        (series,) = row
        if (first, last) != (None, None) and not self._is_monotonic(series, axis):
            return self._scan_range(series, max_points, axis, _bounds(first, last))
        start, end = self._index_range(series, axis, first, last)
        count = end - start
        if count <= 0:
            return SampledCurve([], [], 0)
        if count <= max_points:
            columns = self._read(series, 0, start, end)
            return SampledCurve(list(columns[_AXIS_COLUMN[axis]]), list(columns[2]), count)
        level = int(math.log(count / max(max_points // 2, 1), FAN_OUT))
        columns = self._extremes_of(series, _tile(level, start, end))
        return _decimate(columns, axis, max_points, count)

    def _is_monotonic(self, series: int, axis: Axis) -> bool:
        row = self._connection.execute(
            f"SELECT {axis}_grows FROM series WHERE key = ?",  # noqa: S608 - our column
            (series,),
        ).fetchone()
        return bool(row[0])

    def _scan_range(
        self, series: int, max_points: int, axis: Axis, bounds: tuple[float, float]
    ) -> SampledCurve:
        """Read a range point by point, for an axis that is not monotonic, as after a resume."""
        column = _AXIS_COLUMN[axis]
        selected = [array("d") for _ in range(width(0))]
        for (data,) in self._connection.execute(
            f"SELECT data FROM curve_chunk WHERE series = ? AND level = 0"  # noqa: S608 - our column
            f" AND max_{axis} >= ? AND min_{axis} <= ? ORDER BY number",
            (series, *bounds),
        ):
            for point in zip(*unpack(data, width(0)), strict=True):
                if bounds[0] <= point[column] <= bounds[1]:
                    for values, value in zip(selected, point, strict=True):
                        values.append(value)
        count = len(selected[0])
        if count <= max_points:
            return SampledCurve(list(selected[column]), list(selected[2]), count)
        return _decimate(selected * 2, axis, max_points, count)

    def _index_range(
        self, series: int, axis: Axis, first: float | None, last: float | None
    ) -> tuple[int, int]:
        """Return the indices of the points between `first` and `last` of a monotonic curve."""
        (points,) = self._connection.execute(
            "SELECT points FROM series WHERE key = ?", (series,)
        ).fetchone()
        start, end = 0, points
        if first is not None:
            start = self._points_before(series, points, axis, first, bisect_left)
        if last is not None:
            end = self._points_before(series, points, axis, last, bisect_right)
        return start, end

    def _points_before(
        self, series: int, points: int, axis: Axis, x: float, side: Callable[..., int]
    ) -> int:
        """Count the points before `x`: find the chunk by bisection, then the point in it."""

        def chunk_start(number: int) -> float:
            row = self._connection.execute(
                f"SELECT min_{axis} FROM curve_chunk"  # noqa: S608 - our column
                " WHERE series = ? AND level = 0 AND number = ?",
                (series, number),
            ).fetchone()
            return float(row[0])

        chunks = range(-(-points // CHUNK_ITEMS))
        number = max(side(chunks, x, key=chunk_start) - 1, 0)
        start = number * CHUNK_ITEMS
        chunk = self._read(series, 0, start, min(start + CHUNK_ITEMS, points))
        return start + side(chunk[_AXIS_COLUMN[axis]], x)

    def _extremes_of(self, series: int, tiles: list[tuple[int, int, int]]) -> list[array[float]]:
        merged = [array("d") for _ in range(width(1))]
        for level, start, end in tiles:
            columns = self._read(series, level, start, end)
            # A single point is both the smallest and the largest.
            for column, values in zip(merged, columns if level else columns * 2, strict=True):
                column.extend(values)
        return merged

    def _read(self, series: int, level: int, start: int, end: int) -> list[array[float]]:
        """Read the items `start` to `end` of one level."""
        first_chunk = start // CHUNK_ITEMS
        merged = [array("d") for _ in range(width(level))]
        for (data,) in self._connection.execute(
            "SELECT data FROM curve_chunk WHERE series = ? AND level = ? AND number BETWEEN ? AND ?"
            " ORDER BY number",
            (series, level, first_chunk, (end - 1) // CHUNK_ITEMS),
        ):
            for column, values in zip(merged, unpack(data, width(level)), strict=True):
                column.extend(values)
        offset = first_chunk * CHUNK_ITEMS
        return [column[start - offset : end - offset] for column in merged]


def _tile(level: int, start: int, end: int) -> list[tuple[int, int, int]]:
    """Cover the points `start` to `end` with items of `level`, and of lower levels at the edges."""
    size = FAN_OUT**level
    first, last = -(-start // size), end // size
    if start >= end:
        return []
    if level == 0:
        return [(0, start, end)]
    if first >= last:
        return _tile(level - 1, start, end)
    return [
        *_tile(level - 1, start, first * size),
        (level, first, last),
        *_tile(level - 1, last * size, end),
    ]


def _bounds(first: float | None, last: float | None) -> tuple[float, float]:
    return (-math.inf if first is None else first, math.inf if last is None else last)


def _decimate(
    columns: list[array[float]], axis: Axis, max_points: int, points: int
) -> SampledCurve:
    x: list[float] = []
    y: list[float] = []
    items = len(columns[0])
    buckets = min(max(max_points // 2, 1), items)
    low_x = _AXIS_COLUMN[axis]
    for bucket in range(buckets):
        extreme = extremes(columns, bucket * items // buckets, (bucket + 1) * items // buckets)
        low = (extreme[low_x], extreme[2])
        high = (extreme[low_x + 3], extreme[5])
        for position, value in sorted((low, high)) if low != high else (low,):
            x.append(position)
            y.append(value)
    return SampledCurve(x[:max_points], y[:max_points], points)
