"""CurveSource: the curves of one run, from the daemon, from its episodes and its event files.

`CurveFeed` makes one per run and calls it on threads.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gym_gui.charts.feed.axis_mapping import AxisMapping, fetch_axis_mapping
from gym_gui.charts.feed.curve_events import EventCurves
from gym_gui.charts.feed.curve_scores import Score, fetch_score, score_of
from gym_gui.charts.feed.curves import (
    Curve,
    Look,
    MetricKey,
    RunFacts,
    Wish,
    XAxis,
    all_points,
    fetch_curve,
    flat_config,
    returns_among,
)
from gym_gui.charts.feed.episode_curves import LENGTH, RETURN, EpisodeCurves
from mosaic.contract.errors import UserError
from mosaic.contract.manifest import decode_manifest
from mosaic.contract.runs import RunDetails, RunRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_MOST_EVENT_BYTES = 8 << 20
"""Event files of a run that also tells us: larger ones would most likely say the same again."""
_CLOCK_S = 1.0
_CLOCK_SHARE = 10.0
"""A clock is asked for again after that time, and after so many times what it took."""


class Source(Protocol):
    """What draws, scores and exports ask of one run, on threads."""

    def look(
        self,
        axis: XAxis,
        wishes: Mapping[MetricKey, Wish],
        known: Mapping[MetricKey, int],
        *,
        asks_state: bool,
    ) -> Look:
        """The facts, and those wished for that have other than their `known` number of points."""

    def read_events(self) -> bool:
        """Read what event files say; whether there is anything new."""

    def score(self, facts: RunFacts) -> Score: ...

    def points(self, key: MetricKey) -> Iterator[Curve]:
        """Every point by step, in parts; none where the run does not tell this."""


class CurveSource:
    """One run of the daemon. Keeps what need not be asked for again."""

    def __init__(self, client: "TrainerClient", run_id: str) -> None:
        self._client = client
        self.run_id = run_id
        self._lock = threading.Lock()
        """One look at a time: after a change of the axis the one before may still be under way."""
        self._episodes = EpisodeCurves(client, run_id)
        self._details: RunDetails | None = None
        self._config: dict[str, str] = {}
        self._clock: tuple[Mapping[MetricKey, int], AxisMapping] | None = None
        self._next_clock = 0.0
        self._events: EventCurves | None = None
        self._tells_itself = False

    def look(
        self,
        axis: XAxis,
        wishes: Mapping[MetricKey, Wish],
        known: Mapping[MetricKey, int],
        *,
        asks_state: bool,
    ) -> Look:
        with self._lock:
            return self._look(axis, wishes, known, asks_state)

    def read_events(self) -> bool:
        try:
            folder = self._event_folder()
            if folder is None:
                return False
            if self._events is None or self._events.folder != folder:
                self._events = EventCurves(folder)
            return self._events.refresh()
        except OSError as error:
            raise UserError(
                f"Event files of the run cannot be read: {error.strerror or error}.",
                remedy="Change the rights of the folder.",
                code="C392",
            ) from error

    def score(self, facts: RunFacts) -> Score:
        if facts.returns in facts.from_events and self._events is not None:
            return score_of(self._events.points(facts.returns))
        return fetch_score(self._client, facts)

    def points(self, key: MetricKey) -> Iterator[Curve]:
        told = {
            MetricKey(each.name, each.agent_id or "") for each in self._client.series(self.run_id)
        }
        if key in told:
            yield from all_points(self._client, self.run_id, key)
        elif key in (RETURN, LENGTH):
            episodes = EpisodeCurves(self._client, self.run_id)
            count = episodes.refresh(is_final=True)
            yield Curve(*episodes.curve(key, "step"), count)
        elif self._events is not None and key in self._events.counts:
            yield self._events.points(key)

    def _look(
        self,
        axis: XAxis,
        wishes: Mapping[MetricKey, Wish],
        known: Mapping[MetricKey, int],
        asks_state: bool,
    ) -> Look:
        if self._details is None or asks_state:
            self._details = self._client.run(self.run_id)
            self._config = flat_config(self._details)
        run = self._details.run
        told = {
            MetricKey(series.name, series.agent_id or ""): series.points
            for series in self._client.series(self.run_id)
        }
        self._tells_itself = bool(told)
        returns = returns_among(told)
        if returns is None and run.digest.episodes:
            episodes = self._episodes.refresh(run.state.is_final)
            if episodes:
                told |= {RETURN: episodes, LENGTH: episodes}
                returns = RETURN
        found = self._events.counts if self._events else {}
        # Event files know no agents: what one of them tells has its name before the metric's.
        told_there = {MetricKey(f"{key.agent}/{key.name}", "") for key in told if key.agent}
        from_events = frozenset(found) - told.keys() - told_there
        # Of what is drawn from event files nothing can be said by the daemon.
        clock = self._told_clock(told, returns, run) if axis != "step" else None
        told |= {key: found[key] for key in from_events}
        facts = RunFacts(
            run, self._config, told, returns or returns_among(told), clock, from_events
        )
        curves = {
            key: self._curve(axis, key, wish, facts)
            for key, wish in wishes.items()
            if key in told and told[key] != known.get(key)
        }
        return Look(facts, curves)

    def _event_folder(self) -> Path | None:
        """Where event files are that may say what the run itself does not."""
        from mosaic.analytics.event_files import find_event_files  # noqa: PLC0415 - when asked for

        details, home = self._details, self._client.home
        if details is None or home is None:
            return None
        folder = decode_manifest(details.manifest_json or b"{}").tensorboard_dir
        if not folder:
            return None
        path = home.run(self.run_id).path / folder
        if self._tells_itself and self._events is None:
            size = sum(file.stat().st_size for file in find_event_files(path))
            return path if size <= _MOST_EVENT_BYTES else None
        return path

    def _told_clock(
        self, told: Mapping[MetricKey, int], returns: MetricKey | None, run: RunRecord
    ) -> AxisMapping:
        began = time.monotonic()
        if self._clock is None or (self._clock[0] != told and began >= self._next_clock):
            if returns == RETURN:
                clock = self._episodes.clock()
            else:
                clock = fetch_axis_mapping(self._client, self.run_id, told, returns, _start_of(run))
            self._clock = (dict(told), clock)
            took = time.monotonic() - began
            self._next_clock = began + max(_CLOCK_S, took * _CLOCK_SHARE)
        return self._clock[1]

    def _curve(self, axis: XAxis, key: MetricKey, wish: Wish, facts: RunFacts) -> Curve:
        clock = facts.clock
        if key in facts.from_events and self._events is not None:
            return self._events.curve(key, axis, wish, clock, _start_of(facts.run))
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


def _start_of(run: RunRecord) -> float:
    return run.started_at or run.created_at


def _moved(x: float | None, by: float) -> float | None:
    return None if x is None else x + by
