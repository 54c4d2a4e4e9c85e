"""Curves: the data of a run's charts, how to fetch it from the daemon, and downsampling.

The functions that fetch block; curve sources call them on threads. NumPy is imported with the first
curve, so a window without charts does not load it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gym_gui.charts.feed.axis_mapping import AxisMapping
from gym_gui.charts.feed.episode_curves import MetricKey
from mosaic.contract.runs import RunDetails, RunRecord

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mosaic.client import TrainerClient

__all__ = [
    "AxisMapping",
    "ChartRunInfo",
    "Curve",
    "CurveRequest",
    "CurveSnapshot",
    "MetricKey",
    "XAxis",
]

XAxis = Literal["step", "episode", "time"]
MAX_POINTS = 100_000
"""Points in one response of the daemon."""
_RETURNS = ("episodic_return", "episode_return", "episode_reward", "ep_rew_mean")
_IGNORED_FIELDS = ("run_name", "type", "run_id", "packages", "artifacts", "metadata", "telemetry")
"""Config fields that do not make runs differ."""


class CurveRequest(NamedTuple):
    """A range of the x axis; None is unbounded."""

    first: float | None
    last: float | None
    points: int
    """Maximum number of points; more are downsampled to the extremes of each block."""
    exact: int = 0
    """Up to this number, all points are fetched: means of extremes would mislead."""
    share: float = 1.0
    """Estimated share of the complete curve."""

    def max_points(self, available: int) -> int:
        """How many points to request of a curve that has `available` points."""
        return max(self.points, self.exact) if available * self.share <= self.exact else self.points


@dataclass(frozen=True, slots=True)
class Curve:
    """Points in order; `total` is the number of points in the requested range."""

    x: "NDArray[Any]"
    y: "NDArray[Any]"
    total: int

    @property
    def is_exact(self) -> bool:
        return self.total <= len(self.x)


@dataclass(frozen=True, slots=True)
class ChartRunInfo:
    """One run, its config and its metrics."""

    run: RunRecord
    config: Mapping[str, str]
    series: Mapping[MetricKey, int]
    """Number of points of each metric."""
    returns: MetricKey | None = None
    axis_mapping: AxisMapping | None = None
    """None if the x axis is steps."""
    from_events: frozenset[MetricKey] = frozenset()
    """Metrics that are only in event files."""
    folder: str = ""
    """The folder of event files without a MOSAIC run; empty otherwise."""


@dataclass(frozen=True, slots=True)
class CurveSnapshot:
    """The result of one poll of a run."""

    info: ChartRunInfo
    curves: dict[MetricKey, Curve] = field(default_factory=dict)


def fetch_curve(
    client: "TrainerClient",
    run_id: str,
    key: MetricKey,
    request: CurveRequest,
    axis: Literal["step", "t"] = "step",
) -> Curve:
    import numpy as np  # noqa: PLC0415 - see the module's first lines

    response = client.curve(
        run_id,
        key.name,
        agent_id=key.agent,
        max_points=min(request.points, MAX_POINTS),
        axis=axis,
        first=request.first,
        last=request.last,
    )
    return Curve(
        np.array(response.x, dtype=float), np.array(response.y, dtype=float), response.points
    )


def all_points(client: "TrainerClient", run_id: str, key: MetricKey) -> Iterator[Curve]:
    """All points of a curve by step, in chunks that fit a response."""
    import numpy as np  # noqa: PLC0415 - see the module's first lines

    pending: list[tuple[float | None, float | None]] = [(None, None)]
    while pending:
        first, last = pending.pop()
        chunk = fetch_curve(client, run_id, key, CurveRequest(first, last, MAX_POINTS))
        ends = (chunk.x.min(), chunk.x.max()) if len(chunk.x) else (0.0, 0.0)
        middle = float(ends[0] + ends[1]) / 2
        # A single step with more points than a response holds cannot be split.
        if chunk.is_exact or not ends[0] < middle < ends[1]:
            yield chunk
        else:
            pending.append((float(np.nextafter(middle, np.inf)), last))
            pending.append((first, middle))


def returns_among(keys: Mapping[MetricKey, int]) -> MetricKey | None:
    """The metric with the episode returns, if there is one."""
    for name in _RETURNS:
        for key in sorted(keys):
            if key.name.rpartition("/")[2] == name:
                return key
    return None


def flat_config(details: RunDetails) -> dict[str, str]:
    """Each requested or resolved config value, by name, as text."""
    values: dict[str, str] = {}
    requested = json.loads(details.config_json or b"{}")
    resolved = json.loads(details.resolved_json or b"{}").get("args") or {}
    for fields in (requested, requested.get("params") or {}, resolved):
        for name, value in fields.items():
            if (
                name not in _IGNORED_FIELDS
                and not isinstance(value, dict | list)
                and value is not None
            ):
                values[name] = value if isinstance(value, str) else json.dumps(value)
    return values


def downsample(
    x: "NDArray[Any]", y: "NDArray[Any]", pairs: int
) -> "tuple[NDArray[Any], NDArray[Any]]":
    """Return the minimum and maximum of each block, so that spikes stay; all points if they fit."""
    import numpy as np  # noqa: PLC0415 - see the module docstring

    size = -(-len(x) // max(pairs, 1))
    if size <= 2:
        return x, y
    block_end = len(x) // size * size
    blocks = y[:block_end].reshape(-1, size)
    low = np.where(np.isnan(blocks), np.inf, blocks).argmin(axis=1)
    high = np.where(np.isnan(blocks), -np.inf, blocks).argmax(axis=1)
    starts = np.arange(0, block_end, size)
    extremes = np.stack((starts + np.minimum(low, high), starts + np.maximum(low, high)), axis=1)
    indices = np.append(extremes.ravel(), _tail_indices(y, block_end))
    return x[indices], y[indices]


def _tail_indices(y: "NDArray[Any]", first: int) -> "NDArray[Any]":
    """Indices of the extremes after the last full block, and of the last point."""
    import numpy as np  # noqa: PLC0415 - see the module docstring

    tail = y[first:]
    last = len(y) - 1
    if not len(tail) or np.isnan(tail).all():
        return np.array([last])
    return np.unique([first + np.nanargmin(tail), first + np.nanargmax(tail), last])
