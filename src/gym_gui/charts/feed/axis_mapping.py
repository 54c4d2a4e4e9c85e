"""AxisMapping: which step, episode and time of a run belong together.

The daemon returns curves by step and by time. This maps steps to episodes, and a click on another
axis to a step. Used by `CurveSource` on its thread, and by the model for clicks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gym_gui.charts.feed.episode_curves import MetricKey
    from mosaic.client import TrainerClient

_KNOTS = 2_000
_MAX_COUNTED = 20_000
_COUNTS = 100


@dataclass(frozen=True, slots=True)
class AxisMapping:
    """Increasing knots with linear interpolation between them."""

    step: NDArray[Any]
    t: NDArray[Any] | None
    """Seconds since the start, at each step."""
    episode: NDArray[Any] | None
    """Finished episodes at each step; None if the run does not report episodes."""
    origin: float
    """Start of the run, in seconds of the epoch."""

    def step_of(self, episode: float | None) -> float | None:
        if episode is None or self.episode is None or not len(self.step):
            return None
        return _interpolate(episode, self.episode, self.step)

    def step_at(self, t: float) -> float | None:
        if self.t is None or not len(self.step):
            return None
        return _interpolate(t, self.t, self.step)

    def episodes_at(self, steps: NDArray[Any]) -> NDArray[Any]:
        import numpy as np  # noqa: PLC0415 - see `curves.py`

        if self.episode is None or not len(self.step):
            return np.full(len(steps), np.nan)
        episodes: NDArray[Any] = np.interp(steps, self.step, self.episode)
        return episodes


def fetch_axis_mapping(
    client: TrainerClient,
    run_id: str,
    point_counts: Mapping[MetricKey, int],
    returns: MetricKey | None,
    origin: float,
) -> AxisMapping:
    """From the returns, one per episode; without them, only time, from the longest curve."""
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    empty = np.empty(0)
    reference = returns or max(point_counts, key=lambda key: point_counts[key], default=None)
    if reference is None:
        return AxisMapping(empty, None, None, origin)
    points = min(point_counts[reference], _MAX_COUNTED) if returns else _KNOTS
    name, agent = reference
    steps = client.curve(run_id, name, agent_id=agent, max_points=points)
    times = client.curve(run_id, name, agent_id=agent, max_points=points, axis="t")
    step, t = np.sort(np.array(steps.x)), np.sort(np.array(times.x)) - origin
    t = t if len(t) == len(step) else np.interp(np.arange(len(step)), np.arange(len(t)), t)
    if not returns:
        return AxisMapping(step, t, None, origin)
    if steps.points <= len(steps.x):
        return AxisMapping(step, t, np.arange(1.0, len(step) + 1), origin)
    knots = step[np.linspace(0, len(step) - 1, _COUNTS).astype(int)]
    counts = [
        client.curve(run_id, name, agent_id=agent, max_points=2, last=float(knot)).points
        for knot in knots
    ]
    return AxisMapping(step, t, np.interp(step, knots, counts), origin)


def _interpolate(x: float, xs: NDArray[Any], ys: NDArray[Any]) -> float:
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    return float(np.interp(x, xs, ys))
