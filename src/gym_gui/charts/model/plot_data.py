"""Pictures of metrics: curves made ready to be drawn, on a thread. Imported there, for NumPy.

Smoothing, means over runs with their confidence, logarithms, gaps where a value is no number, and
no more points than a picture has room for. No part of it waits or knows of Qt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.charts.feed.curve_thinning import thinned
from gym_gui.charts.feed.curves import Curve
from gym_gui.charts.model.chart_confidence import LEAST_FOR_BAND, t_975

Values = NDArray[Any]

_GRID = 200
"""Places at which runs are averaged."""
_MOST_MARKS = 200
_FAR_BELOW = 6.0
"""Powers of ten."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A run's curve on its way into a picture."""

    run_id: str
    group: int
    """Of which the mean is drawn; also its colour."""
    curve: Curve


@dataclass(frozen=True, slots=True)
class RunTrace:
    """One run: its points, and the line through them where it is smoothed."""

    run_id: str
    group: int
    x: Values
    y: Values
    smooth_x: Values
    smooth_y: Values

    def value_at(self, x: float) -> float | None:
        """Of the line where there is one; None beyond its ends."""
        xs, ys = (self.smooth_x, self.smooth_y) if len(self.smooth_x) else (self.x, self.y)
        return value_at(xs, ys, x)


@dataclass(frozen=True, slots=True)
class GroupTrace:
    """The mean of several runs, and where the true one lies with 95 % confidence."""

    group: int
    runs: int
    x: Values
    mean: Values
    low: Values
    high: Values


@dataclass(frozen=True, slots=True)
class Picture:
    """One metric. In a logarithmic one all y are exponents of ten."""

    runs: tuple[RunTrace, ...] = ()
    groups: tuple[GroupTrace, ...] = ()
    odd: tuple[tuple[float, float], ...] = ()
    """Where a value is no finite number, and which."""
    left_out: int = 0
    """Points that a logarithmic scale cannot show."""
    is_log: bool = False
    x_range: tuple[float, float] | None = None
    points: int = 0

    @property
    def is_empty(self) -> bool:
        return self.x_range is None

    def y_range(self, first: float, last: float) -> tuple[float, float] | None:
        """What is to be seen between two places."""
        lows, highs = [], []
        for x, y in self._columns():
            start, end = np.searchsorted(x, (first, last))
            seen = y[max(start - 1, 0) : end + 1]
            seen = seen[np.isfinite(seen)]
            if len(seen):
                lows.append(float(seen.min()))
                highs.append(float(seen.max()))
        return (min(lows), max(highs)) if lows else None

    def _columns(self) -> list[tuple[Values, Values]]:
        """Without the bands, which may go on beyond the plot: with few runs they are wide."""
        lines = [(run.x, run.y) for run in self.runs]
        return [*lines, *((group.x, group.mean) for group in self.groups)]


def compose(
    traced: Sequence[Traced], *, smoothing: float, is_log: bool, has_means: bool, pixels: int
) -> Picture:
    """With `has_means` runs of the same group are drawn as their mean, themselves behind it."""
    runs: list[RunTrace] = []
    members: dict[int, list[tuple[Values, Values]]] = {}
    odd: list[tuple[float, float]] = []
    left_out = points = 0
    for each in traced:
        x, y = _sorted(each.curve)
        points += each.curve.total
        odd += [(float(a), float(b)) for a, b in _odd(x, y)]
        y = np.where(np.isfinite(y), y, np.nan)
        smooth = smoothed(y, smoothing)
        members.setdefault(each.group, []).append((x, smooth))
        if is_log:
            left_out += int(np.count_nonzero(y <= 0))
            y, smooth = _logarithm(y), _logarithm(smooth)
        thin_x, thin_y = thinned(x, y, pixels)
        line = sampled(x, smooth, pixels // 2) if smoothing > 0 else (x[:0], x[:0])
        runs.append(RunTrace(each.run_id, each.group, thin_x, thin_y, *line))
    groups = _means(members, is_log) if has_means else ()
    return Picture(
        tuple(runs),
        groups,
        tuple(odd[:: max(1, -(-len(odd) // _MOST_MARKS))]),
        left_out,
        is_log,
        _extent(runs),
        points,
    )


def smoothed(y: Values, weight: float) -> Values:
    """An exponential mean without the pull of its beginning; gaps stay gaps."""
    if weight <= 0 or not len(y):
        return y
    out = np.empty(len(y))
    last = total = 0.0
    for index, value in enumerate(y.tolist()):
        if value != value:
            out[index] = value
            continue
        last = last * weight + (1 - weight) * value
        total = total * weight + (1 - weight)
        out[index] = last / total
    return out


def sampled(x: Values, y: Values, pixels: int) -> tuple[Values, Values]:
    """Every so many of a line that is smooth, and its end."""
    if not len(x):
        return x, y
    step = max(1, len(x) // max(pixels, 1))
    chosen = np.unique(np.append(np.arange(0, len(x), step), len(x) - 1))
    return x[chosen], y[chosen]


def value_at(x: Values, y: Values, at: float) -> float | None:
    """The value of the nearest point; None beyond the ends, and at a gap."""
    if not len(x) or not x[0] <= at <= x[-1]:
        return None
    right = int(np.searchsorted(x, at))
    left = max(right - 1, 0)
    nearest = left if at - x[left] <= x[min(right, len(x) - 1)] - at else right
    value = float(y[nearest])
    return value if np.isfinite(value) else None


def nearest_point(x: Values, y: Values, at: float) -> tuple[float, float] | None:
    """The point of a curve that is nearest along the x axis; None where it has none."""
    known = np.flatnonzero(np.isfinite(y))
    if not len(known):
        return None
    nearest = known[np.abs(x[known] - at).argmin()]
    return float(x[nearest]), float(y[nearest])


def _sorted(curve: Curve) -> tuple[Values, Values]:
    """By x: a run that was resumed goes over the same steps again."""
    known = np.isfinite(curve.x)
    x, y = (curve.x, curve.y) if known.all() else (curve.x[known], curve.y[known])
    if len(x) > 1 and np.any(np.diff(x) < 0):
        order = np.argsort(x, kind="stable")
        return x[order], y[order]
    return x, y


def _odd(x: Values, y: Values) -> list[tuple[Any, Any]]:
    where = np.flatnonzero(~np.isfinite(y))
    where = where[:: max(1, -(-len(where) // _MOST_MARKS))]
    return list(zip(x[where], y[where], strict=True))


def _logarithm(y: Values) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y > 0, np.log10(np.where(y > 0, y, 1.0)), np.nan)


def _extent(runs: Sequence[RunTrace]) -> tuple[float, float] | None:
    ends = [(float(run.x[0]), float(run.x[-1])) for run in runs if len(run.x)]
    return (min(a for a, _ in ends), max(b for _, b in ends)) if ends else None


def _means(members: dict[int, list[tuple[Values, Values]]], is_log: bool) -> tuple[GroupTrace, ...]:
    found = []
    for group, curves in members.items():
        known = [(x[~np.isnan(y)], y[~np.isnan(y)]) for x, y in curves]
        known = [(x, y) for x, y in known if len(x)]
        if known:
            found.append(_mean(group, known, is_log))
    return tuple(found)


def _mean(group: int, curves: list[tuple[Values, Values]], is_log: bool) -> GroupTrace:
    first, last = min(x[0] for x, _ in curves), max(x[-1] for x, _ in curves)
    most = max(len(x) for x, _ in curves)
    grid = np.linspace(first, last, max(2, min(_GRID, most // 2)))
    rows = np.stack([_on_grid(x, y, grid) for x, y in curves])
    count = np.count_nonzero(~np.isnan(rows), axis=0)
    filled = np.where(np.isnan(rows), 0.0, rows)
    seen = np.maximum(count, 1)
    mean = np.where(count > 0, filled.sum(axis=0) / seen, np.nan)
    spread = np.where(np.isnan(rows), 0.0, rows - mean) ** 2
    deviation = np.sqrt(spread.sum(axis=0) / np.maximum(count - 1, 1))
    half = np.where(count >= LEAST_FOR_BAND, _t_975(count - 1) * deviation / np.sqrt(seen), np.nan)
    low, high = mean - half, mean + half
    if is_log:
        mean, low, high = _logarithm(mean), _logarithm(low), _logarithm(high)
        # A band that reaches down to 0 goes on to the lower edge of the plot, and beyond.
        low = np.where(np.isnan(low) & ~np.isnan(high), mean - _FAR_BELOW, low)
    return GroupTrace(group, len(curves), grid, mean, low, high)


def _on_grid(x: Values, y: Values, grid: Values) -> Values:
    """A run at the places of all: the mean of its points around each, or between its neighbours."""
    values = np.interp(grid, x, y)
    half = (grid[1] - grid[0]) / 2
    edges = np.searchsorted(x, np.append(grid - half, grid[-1] + half))
    sums = np.append(0.0, np.cumsum(y))
    inside = np.diff(edges)
    means = np.diff(sums[edges]) / np.maximum(inside, 1)
    values = np.where(inside > 0, means, values)
    return np.where((grid < x[0] - half) | (grid > x[-1] + half), np.nan, values)


def _t_975(freedom: Values) -> Values:
    table = np.array([t_975(each) for each in range(int(freedom.max(initial=0)) + 1)])
    found: Values = table[np.maximum(freedom, 0)]
    return found
