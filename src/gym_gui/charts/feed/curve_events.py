"""EventCurves: the scalars of TensorBoard's event files in one folder, as curves.

Read on a thread, and read on from there while the files grow. Used by `CurveSource` for what a run
has told to TensorBoard alone, and by `FolderSource`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gym_gui.charts.feed.curve_thinning import thinned
from gym_gui.charts.feed.curves import Curve, Wish, XAxis
from gym_gui.charts.feed.episode_curves import MetricKey

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from gym_gui.charts.feed.axis_mapping import AxisMapping
    from mosaic.analytics.event_files import EventFolder


@dataclass(frozen=True, slots=True)
class _Scalars:
    step: NDArray[Any]
    t: NDArray[Any]
    """In seconds of the epoch."""
    value: NDArray[Any]


class EventCurves:
    """Nothing before the first `refresh`. One thread refreshes; any may ask for what was read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._events: EventFolder | None = None
        self._scalars: dict[MetricKey, _Scalars] = {}

    @property
    def counts(self) -> Mapping[MetricKey, int]:
        """How many points each has."""
        return {key: len(scalars.step) for key, scalars in self._scalars.items()}

    @property
    def first_t(self) -> float:
        return min((float(each.t[0]) for each in self._scalars.values()), default=0.0)

    @property
    def last_step(self) -> int:
        return max((int(each.step.max()) for each in self._scalars.values()), default=0)

    def refresh(self) -> bool:
        """Whether there is anything new. Waits."""
        import numpy as np  # noqa: PLC0415 - see `curves.py`

        from mosaic.analytics.event_files import EventFolder  # noqa: PLC0415 - if there are any

        if self._events is None:
            self._events = EventFolder(self.folder)
        if not self._events.read_more():
            return False
        self._scalars = {
            MetricKey(tag): _Scalars(
                np.array(series.steps, dtype=float),
                np.array(series.times, dtype=float),
                np.array(series.values, dtype=float),
            )
            for tag, series in self._events.series.items()
        }
        return True

    def curve(
        self, key: MetricKey, axis: XAxis, wish: Wish, clock: AxisMapping | None, origin: float
    ) -> Curve:
        """A stretch of it, in few points."""
        import numpy as np  # noqa: PLC0415 - see `curves.py`

        scalars = self._scalars[key]
        if axis == "step":
            x = scalars.step
        elif axis == "time":
            x = scalars.t - origin
        else:
            x = clock.episodes_at(scalars.step) if clock else np.full(len(scalars.step), np.nan)
        y = scalars.value
        first = -np.inf if wish.first is None else wish.first
        last = np.inf if wish.last is None else wish.last
        inside = (x >= first) & (x <= last)
        if not inside.all():
            x, y = x[inside], y[inside]
        total, most = len(x), wish.most(len(scalars.step))
        return Curve(*(thinned(x, y, most // 2) if total > most else (x, y)), total)

    def points(self, key: MetricKey) -> Curve:
        """All of them, by step."""
        scalars = self._scalars[key]
        return Curve(scalars.step, scalars.value, len(scalars.step))
