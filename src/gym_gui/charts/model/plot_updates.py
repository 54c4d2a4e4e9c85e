"""ChartPictures: the pictures of the metrics in sight, made on threads, ten times a second at most.

Owned by `ChartsModel`, which says how they are to be drawn.
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
    from gym_gui.charts.model.plot_data import Picture

_EVERY_S = 0.1
"""News of several runs within that time become one picture."""
_KEPT = 48
"""Pictures of metrics that are out of sight."""
_USUAL_COLUMNS = 800


@dataclass(frozen=True, slots=True)
class Drawing:
    """How all pictures are drawn."""

    axis: XAxis
    smoothing: float
    is_log: bool
    groups: tuple[RunGroup, ...]
    hidden: frozenset[str]

    @property
    def has_means(self) -> bool:
        return any(len(group.run_ids) > 1 for group in self.groups)


class ChartPictures(QObject):
    """All of it is for the UI thread; only the composing is not."""

    changed = Signal(object)
    """The `MetricKey` whose picture is new."""

    def __init__(
        self, feed: CurveFeed, tasks: Tasks, pulse: UiTicker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._feed = feed
        self._tasks = tasks
        self._pulse = pulse
        self._pictures: OrderedDict[MetricKey, Picture] = OrderedDict()
        self._columns: dict[MetricKey, int] = {}
        self._in_sight: set[MetricKey] = set()
        self._stale: set[MetricKey] = set()
        self._urgent: set[MetricKey] = set()
        """A person has asked for something else: at once, however new the last one is."""
        self._composing: set[MetricKey] = set()
        self._next: dict[MetricKey, float] = {}
        self._drawing: Drawing | None = None

    def get(self, key: MetricKey) -> "Picture | None":
        return self._pictures.get(key)

    def want(self, key: MetricKey, columns: int) -> None:
        """It is in sight, with room for so many columns."""
        self._columns[key] = columns
        self._in_sight.add(key)
        self._urgent.add(key)
        if key in self._stale:
            self._pulse.wake()

    def unwant(self, key: MetricKey) -> None:
        """Out of sight: the picture stays until there are many of them."""
        self._in_sight.discard(key)
        unseen = [each for each in self._pictures if each not in self._in_sight]
        for each in unseen[: max(0, len(unseen) - _KEPT)]:
            del self._pictures[each]
            self._feed.forget(each)

    def note_news(self, keys: Iterable[MetricKey]) -> None:
        """Some run has told more of these."""
        self._stale |= set(keys)
        self._pulse.wake()

    def redraw(self) -> None:
        """All of them, since they are to look different."""
        self._urgent |= set(self._pictures) | self._in_sight
        self._stale |= self._urgent
        self._pulse.wake()

    def clear(self) -> None:
        """None of them means anything any more."""
        self._pictures.clear()
        self._in_sight.clear()
        self._urgent.clear()

    def compose(self, drawing: Drawing) -> bool:
        """Once a beat: begin what is due. Whether there is anything left to do."""
        self._drawing = drawing
        now = time.monotonic()
        waiting = (self._stale & self._in_sight) - self._composing
        for key in waiting:
            due = self._next.get(key, 0.0)
            if key in self._urgent or now >= due:
                self._urgent.discard(key)
                # Counted from when it was due, so that ten a second are ten.
                self._next[key] = max(due, now - _EVERY_S) + _EVERY_S
                self._compose(key, drawing)
        return bool(waiting)

    def _compose(self, key: MetricKey, drawing: Drawing) -> None:
        self._stale.discard(key)
        curves = [
            (run_id, group.number, curve)
            for group in drawing.groups
            for run_id in group.run_ids
            if run_id not in drawing.hidden and (curve := self._feed.curve(run_id, key)) is not None
        ]
        if not curves and not self._is_all_hidden(key, drawing):
            return  # on their way
        columns = self._columns.get(key, _USUAL_COLUMNS)

        def work() -> "Picture":
            from gym_gui.charts.model.plot_data import Traced, compose  # noqa: PLC0415 - NumPy

            return compose(
                [Traced(*each) for each in curves],
                smoothing=drawing.smoothing,
                is_log=drawing.is_log,
                has_means=drawing.has_means,
                pixels=columns,
            )

        def take(picture: "Picture") -> None:
            self._composing.discard(key)
            if self._drawing is not None and drawing.axis == self._drawing.axis:
                self._pictures[key] = picture
                self._pictures.move_to_end(key)
                self.changed.emit(key)
            self._pulse.wake()

        self._composing.add(key)
        self._tasks.run(self, work, take)

    def _is_all_hidden(self, key: MetricKey, drawing: Drawing) -> bool:
        told = [self._feed.facts(run) for group in drawing.groups for run in group.run_ids]
        return drawing.hidden.issuperset(
            facts.run.run_id for facts in told if facts is not None and key in facts.series
        )
