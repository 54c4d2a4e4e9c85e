"""EventCurves: the scalars of TensorBoard event files in one folder, as curves.

Read incrementally on a thread while the files grow. Used by `CurveSource` for metrics that a run
reports only to TensorBoard, and by `FolderSource`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gym_gui.charts.feed.curves import Curve, CurveRequest, XAxis, downsample
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
    """Empty before the first `refresh`. One thread refreshes; any thread may read the result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._events: EventFolder | None = None
        self._scalars: dict[MetricKey, _Scalars] = {}

    @property
    def counts(self) -> Mapping[MetricKey, int]:
        """Number of points of each curve."""
        return {key: len(scalars.step) for key, scalars in self._scalars.items()}

    @property
    def first_t(self) -> float:
        return min((float(scalars.t[0]) for scalars in self._scalars.values()), default=0.0)

    @property
    def last_step(self) -> int:
        return max((int(scalars.step.max()) for scalars in self._scalars.values()), default=0)

    def refresh(self) -> bool:
        """Return whether there are new points. Blocks."""
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
        self,
        key: MetricKey,
        axis: XAxis,
        request: CurveRequest,
        axis_mapping: AxisMapping | None,
        origin: float,
    ) -> Curve:
        """The requested range, downsampled."""
        import numpy as np  # noqa: PLC0415 - see `curves.py`

        scalars = self._scalars[key]
        if axis == "step":
            x = scalars.step
        elif axis == "time":
            x = scalars.t - origin
        else:
            x = (
                axis_mapping.episodes_at(scalars.step)
                if axis_mapping
                else np.full(len(scalars.step), np.nan)
            )
        y = scalars.value
        first = -np.inf if request.first is None else request.first
        last = np.inf if request.last is None else request.last
        inside = (x >= first) & (x <= last)
        if not inside.all():
            x, y = x[inside], y[inside]
        total, limit = len(x), request.max_points(len(scalars.step))
        return Curve(*(downsample(x, y, limit // 2) if total > limit else (x, y)), total)

    def points(self, key: MetricKey) -> Curve:
        """All points, by step."""
        scalars = self._scalars[key]
        return Curve(scalars.step, scalars.value, len(scalars.step))
