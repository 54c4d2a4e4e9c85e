"""Curves: what a run's charts are made of, and how the daemon is asked for it.

What waits is called on threads, by the sources of curves. NumPy is imported when the first curve
is asked for, so a window without charts does not load it.
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

__all__ = ["AxisMapping", "Curve", "Look", "MetricKey", "RunFacts", "Wish", "XAxis"]

XAxis = Literal["step", "episode", "time"]
MOST_POINTS = 100_000
"""In one answer of the daemon."""
_RETURNS = ("episodic_return", "episode_return", "episode_reward", "ep_rew_mean")
_NOT_CHOSEN = ("run_name", "type", "run_id", "packages", "artifacts", "metadata", "telemetry")
"""What the configuration has beside what makes runs differ."""


class Wish(NamedTuple):
    """A stretch of the x axis, None where it has no end."""

    first: float | None
    last: float | None
    points: int
    """To be drawn: of more than these, each pair of neighbours' extremes."""
    exact: int = 0
    """When there are no more than so many, all of them: means of extremes would mislead."""
    share: float = 1.0
    """Of the whole curve, as far as one can tell."""

    def most(self, told: int) -> int:
        """How many points to ask for of a curve that has `told`."""
        return max(self.points, self.exact) if told * self.share <= self.exact else self.points


@dataclass(frozen=True, slots=True)
class Curve:
    """Points in their order; `total` is how many there are in the stretch that was asked for."""

    x: "NDArray[Any]"
    y: "NDArray[Any]"
    total: int

    @property
    def is_exact(self) -> bool:
        return self.total <= len(self.x)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run, how it was configured, and what it has told."""

    run: RunRecord
    config: Mapping[str, str]
    series: Mapping[MetricKey, int]
    """How many points each has."""
    returns: MetricKey | None = None
    clock: AxisMapping | None = None
    """None where nothing but steps is asked for."""
    from_events: frozenset[MetricKey] = frozenset()
    """Which of the series were found in event files only."""
    folder: str = ""
    """Of event files that are no run of ours; empty otherwise."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a run has found."""

    facts: RunFacts
    curves: dict[MetricKey, Curve] = field(default_factory=dict)


def fetch_curve(
    client: "TrainerClient",
    run_id: str,
    key: MetricKey,
    wish: Wish,
    axis: Literal["step", "t"] = "step",
) -> Curve:
    import numpy as np  # noqa: PLC0415 - see the module's first lines

    told = client.curve(
        run_id,
        key.name,
        agent_id=key.agent,
        max_points=min(wish.points, MOST_POINTS),
        axis=axis,
        first=wish.first,
        last=wish.last,
    )
    return Curve(np.array(told.x, dtype=float), np.array(told.y, dtype=float), told.points)


def all_points(client: "TrainerClient", run_id: str, key: MetricKey) -> Iterator[Curve]:
    """Every point of a curve by step, in parts that fit an answer."""
    import numpy as np  # noqa: PLC0415 - see the module's first lines

    waiting: list[tuple[float | None, float | None]] = [(None, None)]
    while waiting:
        first, last = waiting.pop()
        part = fetch_curve(client, run_id, key, Wish(first, last, MOST_POINTS))
        ends = (part.x.min(), part.x.max()) if len(part.x) else (0.0, 0.0)
        middle = float(ends[0] + ends[1]) / 2
        # A single step with more points than an answer holds cannot be split.
        if part.is_exact or not ends[0] < middle < ends[1]:
            yield part
        else:
            waiting.append((float(np.nextafter(middle, np.inf)), last))
            waiting.append((first, middle))


def returns_among(keys: Mapping[MetricKey, int]) -> MetricKey | None:
    """The metric that is the return of episodes, if there is one."""
    for ending in _RETURNS:
        for key in sorted(keys):
            if key.name.rpartition("/")[2] == ending:
                return key
    return None


def flat_config(details: RunDetails) -> dict[str, str]:
    """Every value that was asked for or resolved, by its name, as text."""
    found: dict[str, str] = {}
    asked = json.loads(details.config_json or b"{}")
    resolved = json.loads(details.resolved_json or b"{}").get("args") or {}
    for part in (asked, asked.get("params") or {}, resolved):
        for name, value in part.items():
            if name not in _NOT_CHOSEN and not isinstance(value, dict | list) and value is not None:
                found[name] = value if isinstance(value, str) else json.dumps(value)
    return found
