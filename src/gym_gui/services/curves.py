"""Curves: what a run's charts are made of, asked of the daemon. Everything here waits.

Called on threads, by `CurveFeed` and by the exports. NumPy is imported when the first curve is
asked for, so a window without charts does not load it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gym_gui.services.curve_clock import RunClock, fetch_clock
from gym_gui.services.episode_curves import LENGTH, RETURN, EpisodeCurves, MetricKey
from mosaic.contract.runs import RunDetails, RunRecord

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mosaic.client import TrainerClient

__all__ = ["Curve", "MetricKey", "RunClock", "RunFacts", "Wish", "XAxis"]

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
    clock: RunClock | None = None
    """None where nothing but steps is asked for."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a run has found."""

    facts: RunFacts
    curves: dict[MetricKey, Curve] = field(default_factory=dict)


class CurveSource:
    """One run. Keeps what need not be asked for again; one thread uses it at a time."""

    def __init__(self, client: "TrainerClient", run_id: str) -> None:
        self._client = client
        self.run_id = run_id
        self._episodes = EpisodeCurves(client, run_id)
        self._details: RunDetails | None = None
        self._config: dict[str, str] = {}
        self._clock: tuple[Mapping[MetricKey, int], RunClock] | None = None

    def look(
        self,
        axis: XAxis,
        wishes: Mapping[MetricKey, Wish],
        known: Mapping[MetricKey, int],
        *,
        asks_state: bool,
    ) -> Look:
        """The facts, and those wished for that have other than their `known` number of points."""
        if self._details is None or asks_state:
            self._details = self._client.run(self.run_id)
            self._config = flat_config(self._details)
        run = self._details.run
        told = {
            MetricKey(series.name, series.agent_id or ""): series.points
            for series in self._client.series(self.run_id)
        }
        returns = returns_among(told)
        if returns is None and run.digest.episodes:
            episodes = self._episodes.refresh(run.state.is_final)
            if episodes:
                told |= {RETURN: episodes, LENGTH: episodes}
                returns = RETURN
        clock = self._told_clock(told, returns, run) if axis != "step" else None
        facts = RunFacts(run, self._config, told, returns, clock)
        curves = {
            key: self._curve(axis, key, wish, facts)
            for key, wish in wishes.items()
            if key in told and told[key] != known.get(key)
        }
        return Look(facts, curves)

    def _told_clock(
        self, told: Mapping[MetricKey, int], returns: MetricKey | None, run: RunRecord
    ) -> RunClock:
        if self._clock is None or self._clock[0] != told:
            origin = run.started_at or run.created_at
            if returns == RETURN:
                clock = self._episodes.clock()
            else:
                clock = fetch_clock(self._client, self.run_id, told, returns, origin)
            self._clock = (told, clock)
        return self._clock[1]

    def _curve(self, axis: XAxis, key: MetricKey, wish: Wish, facts: RunFacts) -> Curve:
        clock = facts.clock
        wish = wish._replace(points=wish.most(facts.series.get(key, 0)))
        if key in (RETURN, LENGTH) and facts.returns == RETURN:
            x, y = self._episodes.curve(key, axis)
            return Curve(x, y, len(x))
        if clock is None:
            return fetch_curve(self._client, self.run_id, key, wish)
        if axis == "time":
            origin = clock.origin
            shifted = wish._replace(
                first=_moved(wish.first, origin), last=_moved(wish.last, origin)
            )
            found = fetch_curve(self._client, self.run_id, key, shifted, "t")
            return Curve(found.x - origin, found.y, found.total)
        steps = wish._replace(first=clock.step_of(wish.first), last=clock.step_of(wish.last))
        found = fetch_curve(self._client, self.run_id, key, steps)
        return Curve(clock.episodes_at(found.x), found.y, found.total)


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


def _moved(x: float | None, by: float) -> float | None:
    return None if x is None else x + by
