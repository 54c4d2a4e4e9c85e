"""PlotData: the curves of one metric, prepared for plotting. Imported on a thread, for NumPy.

Smoothing, means over runs with confidence bands, log scale, gaps at values that are not finite, and
downsampling to the width of the plot. Does not block and does not import Qt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.charts.feed.curves import Curve, downsample
from gym_gui.charts.model.chart_confidence import MIN_RUNS_FOR_BAND, t_975

Values = NDArray[Any]

_GRID = 200
"""Points of the grid on which runs are averaged."""
_MAX_MARKS = 200
_FAR_BELOW = 6.0
"""In powers of ten."""


@dataclass(frozen=True, slots=True)
class RunCurve:
    """The curve of one run, the input of `compose`."""

    run_id: str
    group: int
    """Group of the run; also the index of its colour."""
    curve: Curve


@dataclass(frozen=True, slots=True)
class RunTrace:
    """One run: its points, and the smoothed line if there is smoothing."""

    run_id: str
    group: int
    x: Values
    y: Values
    smooth_x: Values
    smooth_y: Values

    def value_at(self, x: float) -> float | None:
        """The value of the smoothed line if there is one; None outside of its range."""
        xs, ys = (self.smooth_x, self.smooth_y) if len(self.smooth_x) else (self.x, self.y)
        return value_at(xs, ys, x)


@dataclass(frozen=True, slots=True)
class GroupTrace:
    """The mean of several runs with its 95 % confidence band."""

    group: int
    runs: int
    x: Values
    mean: Values
    low: Values
    high: Values


@dataclass(frozen=True, slots=True)
class PlotData:
    """The plot of one metric. With a log scale all y are exponents of ten."""

    runs: tuple[RunTrace, ...] = ()
    groups: tuple[GroupTrace, ...] = ()
    odd: tuple[tuple[float, float], ...] = ()
    """Positions and values that are not finite."""
    left_out: int = 0
    """Number of points that a log scale cannot show."""
    is_log: bool = False
    x_range: tuple[float, float] | None = None
    points: int = 0

    @property
    def is_empty(self) -> bool:
        return self.x_range is None

    def y_range(self, first: float, last: float) -> tuple[float, float] | None:
        """Minimum and maximum between two positions on the x axis."""
        lows, highs = [], []
        for x, y in self._columns():
            start, end = np.searchsorted(x, (first, last))
            visible = y[max(start - 1, 0) : end + 1]
            visible = visible[np.isfinite(visible)]
            if len(visible):
                lows.append(float(visible.min()))
                highs.append(float(visible.max()))
        return (min(lows), max(highs)) if lows else None

    def _columns(self) -> list[tuple[Values, Values]]:
        """Without the bands, which may extend beyond the plot: with few runs they are wide."""
        lines = [(run.x, run.y) for run in self.runs]
        return [*lines, *((group.x, group.mean) for group in self.groups)]


def compose(
    run_curves: Sequence[RunCurve], *, smoothing: float, is_log: bool, has_means: bool, pixels: int
) -> PlotData:
    """With `has_means`, each group also gets a mean, drawn over its runs."""
    runs: list[RunTrace] = []
    members: dict[int, list[tuple[Values, Values]]] = {}
    odd: list[tuple[float, float]] = []
    left_out = points = 0
    for run_curve in run_curves:
        x, y = _sorted(run_curve.curve)
        points += run_curve.curve.total
        odd += [(float(a), float(b)) for a, b in _odd(x, y)]
        y = np.where(np.isfinite(y), y, np.nan)
        smooth = smoothed(y, smoothing)
        members.setdefault(run_curve.group, []).append((x, smooth))
        if is_log:
            left_out += int(np.count_nonzero(y <= 0))
            y, smooth = _logarithm(y), _logarithm(smooth)
        thin_x, thin_y = downsample(x, y, pixels)
        line = sampled(x, smooth, pixels // 2) if smoothing > 0 else (x[:0], x[:0])
        runs.append(RunTrace(run_curve.run_id, run_curve.group, thin_x, thin_y, *line))
    groups = _means(members, is_log) if has_means else ()
    return PlotData(
        tuple(runs),
        groups,
        tuple(odd[:: max(1, -(-len(odd) // _MAX_MARKS))]),
        left_out,
        is_log,
        _x_range(runs),
        points,
    )


def smoothed(y: Values, weight: float) -> Values:
    """Exponential moving average with bias correction; gaps stay gaps."""
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
    """Evenly spaced points of a smooth line, with its last point."""
    if not len(x):
        return x, y
    step = max(1, len(x) // max(pixels, 1))
    chosen = np.unique(np.append(np.arange(0, len(x), step), len(x) - 1))
    return x[chosen], y[chosen]


def value_at(x: Values, y: Values, at: float) -> float | None:
    """The value of the nearest point; None outside of the range and at a gap."""
    if not len(x) or not x[0] <= at <= x[-1]:
        return None
    right = int(np.searchsorted(x, at))
    left = max(right - 1, 0)
    nearest = left if at - x[left] <= x[min(right, len(x) - 1)] - at else right
    value = float(y[nearest])
    return value if np.isfinite(value) else None


def nearest_point(x: Values, y: Values, at: float) -> tuple[float, float] | None:
    """The nearest point of a curve along the x axis; None without finite points."""
    known = np.flatnonzero(np.isfinite(y))
    if not len(known):
        return None
    nearest = known[np.abs(x[known] - at).argmin()]
    return float(x[nearest]), float(y[nearest])


def _sorted(curve: Curve) -> tuple[Values, Values]:
    """Sorted by x: a resumed run may repeat steps."""
    known = np.isfinite(curve.x)
    x, y = (curve.x, curve.y) if known.all() else (curve.x[known], curve.y[known])
    if len(x) > 1 and np.any(np.diff(x) < 0):
        order = np.argsort(x, kind="stable")
        return x[order], y[order]
    return x, y


def _odd(x: Values, y: Values) -> list[tuple[Any, Any]]:
    where = np.flatnonzero(~np.isfinite(y))
    where = where[:: max(1, -(-len(where) // _MAX_MARKS))]
    return list(zip(x[where], y[where], strict=True))


def _logarithm(y: Values) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y > 0, np.log10(np.where(y > 0, y, 1.0)), np.nan)


def _x_range(runs: Sequence[RunTrace]) -> tuple[float, float] | None:
    ends = [(float(run.x[0]), float(run.x[-1])) for run in runs if len(run.x)]
    return (min(a for a, _ in ends), max(b for _, b in ends)) if ends else None


def _means(members: dict[int, list[tuple[Values, Values]]], is_log: bool) -> tuple[GroupTrace, ...]:
    traces = []
    for group, curves in members.items():
        known = [(x[~np.isnan(y)], y[~np.isnan(y)]) for x, y in curves]
        known = [(x, y) for x, y in known if len(x)]
        if known:
            traces.append(_mean(group, known, is_log))
    return tuple(traces)


def _mean(group: int, curves: list[tuple[Values, Values]], is_log: bool) -> GroupTrace:
    first, last = min(x[0] for x, _ in curves), max(x[-1] for x, _ in curves)
    longest = max(len(x) for x, _ in curves)
    grid = np.linspace(first, last, max(2, min(_GRID, longest // 2)))
    rows = np.stack([_on_grid(x, y, grid) for x, y in curves])
    count = np.count_nonzero(~np.isnan(rows), axis=0)
    filled = np.where(np.isnan(rows), 0.0, rows)
    divisor = np.maximum(count, 1)
    mean = np.where(count > 0, filled.sum(axis=0) / divisor, np.nan)
    spread = np.where(np.isnan(rows), 0.0, rows - mean) ** 2
    deviation = np.sqrt(spread.sum(axis=0) / np.maximum(count - 1, 1))
    half = np.where(
        count >= MIN_RUNS_FOR_BAND, _t_975(count - 1) * deviation / np.sqrt(divisor), np.nan
    )
    low, high = mean - half, mean + half
    if is_log:
        mean, low, high = _logarithm(mean), _logarithm(low), _logarithm(high)
        # A band that reaches 0 extends beyond the lower edge of the plot.
        low = np.where(np.isnan(low) & ~np.isnan(high), mean - _FAR_BELOW, low)
    return GroupTrace(group, len(curves), grid, mean, low, high)


def _on_grid(x: Values, y: Values, grid: Values) -> Values:
    """A run on the grid: the mean of the points around each position, or interpolated."""
    values = np.interp(grid, x, y)
    half = (grid[1] - grid[0]) / 2
    edges = np.searchsorted(x, np.append(grid - half, grid[-1] + half))
    sums = np.append(0.0, np.cumsum(y))
    inside = np.diff(edges)
    means = np.diff(sums[edges]) / np.maximum(inside, 1)
    values = np.where(inside > 0, means, values)
    return np.where((grid < x[0] - half) | (grid > x[-1] + half), np.nan, values)


def _t_975(freedom: Values) -> Values:
    table = np.array([t_975(value) for value in range(int(freedom.max(initial=0)) + 1)])
    values: Values = table[np.maximum(freedom, 0)]
    return values
