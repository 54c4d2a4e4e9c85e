"""PlotUpdates: computes the `PlotData` of visible metrics on threads, at most ten times a second.

Owned by `ChartsModel`, which passes the `PlotOptions`.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gym_gui.charts.feed.curve_feed import CurveFeed
from gym_gui.charts.feed.curves import MetricKey, XAxis
from gym_gui.charts.model.chart_runs import RunGroup
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.ui_ticker import UiTicker

if TYPE_CHECKING:
    from gym_gui.charts.model.plot_data import PlotData

_EVERY_S = 0.1
"""Updates of several runs within this time are combined."""
_MAX_HIDDEN = 48
"""Cached plots of metrics that are not visible."""
_DEFAULT_COLUMNS = 800


@dataclass(frozen=True, slots=True)
class PlotOptions:
    """How all plots are drawn."""

    axis: XAxis
    smoothing: float
    is_log: bool
    groups: tuple[RunGroup, ...]
    hidden: frozenset[str]

    @property
    def has_means(self) -> bool:
        return any(len(group.run_ids) > 1 for group in self.groups)


class PlotUpdates(QObject):
    """UI thread only; `compose` itself runs on a thread."""

    changed = Signal(object)
    """The `MetricKey` with new plot data."""

    def __init__(
        self, feed: CurveFeed, tasks: Tasks, ticker: UiTicker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._feed = feed
        self._tasks = tasks
        self._ticker = ticker
        self._plots: OrderedDict[MetricKey, PlotData] = OrderedDict()
        self._columns: dict[MetricKey, int] = {}
        self._visible: set[MetricKey] = set()
        self._stale: set[MetricKey] = set()
        self._urgent: set[MetricKey] = set()
        """After a change by the user: updated at once, without the rate limit."""
        self._composing: set[MetricKey] = set()
        self._next: dict[MetricKey, float] = {}
        self._options: PlotOptions | None = None

    def get(self, key: MetricKey) -> "PlotData | None":
        return self._plots.get(key)

    def subscribe(self, key: MetricKey, columns: int) -> None:
        """The metric is visible in a plot with this number of columns."""
        self._columns[key] = columns
        self._visible.add(key)
        self._urgent.add(key)
        if key in self._stale:
            self._ticker.wake()

    def unsubscribe(self, key: MetricKey) -> None:
        """The metric is no longer visible; its plot stays in the cache."""
        self._visible.discard(key)
        hidden = [other for other in self._plots if other not in self._visible]
        for other in hidden[: max(0, len(hidden) - _MAX_HIDDEN)]:
            del self._plots[other]
            self._feed.forget(other)

    def mark_stale(self, keys: Iterable[MetricKey]) -> None:
        """A run has new points of these metrics."""
        self._stale |= set(keys)
        self._ticker.wake()

    def redraw(self) -> None:
        """Update all plots after a change of the options."""
        self._urgent |= set(self._plots) | self._visible
        self._stale |= self._urgent
        self._ticker.wake()

    def clear(self) -> None:
        """Drop all plots."""
        self._plots.clear()
        self._visible.clear()
        self._urgent.clear()

    def compose(self, options: PlotOptions) -> bool:
        """Once per tick: start what is due. Return whether anything is left to do."""
        self._options = options
        now = time.monotonic()
        pending = (self._stale & self._visible) - self._composing
        for key in pending:
            due = self._next.get(key, 0.0)
            if key in self._urgent or now >= due:
                self._urgent.discard(key)
                # Counted from when it was due, so that ten a second are ten.
                self._next[key] = max(due, now - _EVERY_S) + _EVERY_S
                self._compose(key, options)
        return bool(pending)

    def _compose(self, key: MetricKey, options: PlotOptions) -> None:
        self._stale.discard(key)
        curves = [
            (run_id, group.number, curve)
            for group in options.groups
            for run_id in group.run_ids
            if run_id not in options.hidden and (curve := self._feed.curve(run_id, key)) is not None
        ]
        if not curves and not self._is_all_hidden(key, options):
            return  # still being fetched
        columns = self._columns.get(key, _DEFAULT_COLUMNS)

        def work() -> "PlotData":
            from gym_gui.charts.model.plot_data import RunCurve, compose  # noqa: PLC0415 - NumPy

            return compose(
                [RunCurve(*curve) for curve in curves],
                smoothing=options.smoothing,
                is_log=options.is_log,
                has_means=options.has_means,
                pixels=columns,
            )

        def apply(plot_data: "PlotData") -> None:
            self._composing.discard(key)
            if self._options is not None and options.axis == self._options.axis:
                self._plots[key] = plot_data
                self._plots.move_to_end(key)
                self.changed.emit(key)
            self._ticker.wake()

        self._composing.add(key)
        self._tasks.run(self, work, apply)

    def _is_all_hidden(self, key: MetricKey, options: PlotOptions) -> bool:
        infos = [self._feed.run_info(run) for group in options.groups for run in group.run_ids]
        return options.hidden.issuperset(
            info.run.run_id for info in infos if info is not None and key in info.series
        )
