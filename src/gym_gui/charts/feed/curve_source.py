"""CurveSource: the curves of one run, from the daemon, its episodes and its event files.

`CurveFeed` makes one per run and calls it on threads. `write_points` exports them as CSV.
"""

import csv
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gym_gui.charts.feed.axis_mapping import AxisMapping, fetch_axis_mapping
from gym_gui.charts.feed.curve_events import EventCurves
from gym_gui.charts.feed.curve_scores import Score, fetch_score, score_of
from gym_gui.charts.feed.curves import (
    ChartRunInfo,
    Curve,
    CurveRequest,
    CurveSnapshot,
    MetricKey,
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

_MAX_EVENT_BYTES = 8 << 20
"""Event files of a run that also reports metrics: larger ones are most likely duplicates."""
_MAPPING_S = 1.0
_MAPPING_FACTOR = 10.0
"""Minimum time between two fetches of the axis mapping, also as a multiple of the last one."""
_CSV_HEADER = ("run_id", "run", "metric", "agent", "step", "value")


class Source(Protocol):
    """What charts, scores and exports need of one run. Called on threads."""

    def poll(
        self,
        axis: XAxis,
        requests: Mapping[MetricKey, CurveRequest],
        known: Mapping[MetricKey, int],
        *,
        with_state: bool,
    ) -> CurveSnapshot:
        """The run info, and the requested curves whose point count differs from `known`."""

    def read_events(self) -> bool:
        """Read the event files; return whether there are new points."""

    def score(self, info: ChartRunInfo) -> Score: ...

    def points(self, key: MetricKey) -> Iterator[Curve]:
        """All points by step, in chunks; none if the run does not report the metric."""


class CurveSource:
    """One run of the daemon. Caches what need not be fetched again."""

    def __init__(self, client: "TrainerClient", run_id: str) -> None:
        self._client = client
        self.run_id = run_id
        self._lock = threading.Lock()
        """One poll at a time: after a change of the axis the previous one may still be running."""
        self._episodes = EpisodeCurves(client, run_id)
        self._details: RunDetails | None = None
        self._config: dict[str, str] = {}
        self._mapping: tuple[Mapping[MetricKey, int], AxisMapping] | None = None
        self._next_mapping = 0.0
        self._events: EventCurves | None = None
        self._has_own_metrics = False

    def poll(
        self,
        axis: XAxis,
        requests: Mapping[MetricKey, CurveRequest],
        known: Mapping[MetricKey, int],
        *,
        with_state: bool,
    ) -> CurveSnapshot:
        with self._lock:
            return self._poll(axis, requests, known, with_state)

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
                remedy="Change the permissions of the folder.",
                code="C392",
            ) from error

    def score(self, info: ChartRunInfo) -> Score:
        if info.returns in info.from_events and self._events is not None:
            return score_of(self._events.points(info.returns))
        return fetch_score(self._client, info)

    def points(self, key: MetricKey) -> Iterator[Curve]:
        reported = {
            MetricKey(series.name, series.agent_id or "")
            for series in self._client.series(self.run_id)
        }
        if key in reported:
            yield from all_points(self._client, self.run_id, key)
        elif key in (RETURN, LENGTH):
            episodes = EpisodeCurves(self._client, self.run_id)
            count = episodes.refresh(is_final=True)
            yield Curve(*episodes.curve(key, "step"), count)
        elif self._events is not None and key in self._events.counts:
            yield self._events.points(key)

    def _poll(
        self,
        axis: XAxis,
        requests: Mapping[MetricKey, CurveRequest],
        known: Mapping[MetricKey, int],
        with_state: bool,
    ) -> CurveSnapshot:
        if self._details is None or with_state:
            self._details = self._client.run(self.run_id)
            self._config = flat_config(self._details)
        run = self._details.run
        counts = {
            MetricKey(series.name, series.agent_id or ""): series.points
            for series in self._client.series(self.run_id)
        }
        self._has_own_metrics = bool(counts)
        returns = returns_among(counts)
        if returns is None and run.digest.episodes:
            episodes = self._episodes.refresh(run.state.is_final)
            if episodes:
                counts |= {RETURN: episodes, LENGTH: episodes}
                returns = RETURN
        event_counts = self._events.counts if self._events else {}
        # Event files have no agents: the name of the agent is a prefix of the tag.
        event_names = {MetricKey(f"{key.agent}/{key.name}", "") for key in counts if key.agent}
        from_events = frozenset(event_counts) - counts.keys() - event_names
        # The daemon does not know the curves of event files.
        axis_mapping = self._fetch_mapping(counts, returns, run) if axis != "step" else None
        counts |= {key: event_counts[key] for key in from_events}
        info = ChartRunInfo(
            run, self._config, counts, returns or returns_among(counts), axis_mapping, from_events
        )
        curves = {
            key: self._curve(axis, key, request, info)
            for key, request in requests.items()
            if key in counts and counts[key] != known.get(key)
        }
        return CurveSnapshot(info, curves)

    def _event_folder(self) -> Path | None:
        """The folder of event files with metrics that the run may not report itself."""
        from mosaic.analytics.event_files import find_event_files  # noqa: PLC0415 - when asked for

        details, home = self._details, self._client.home
        if details is None or home is None:
            return None
        folder = decode_manifest(details.manifest_json or b"{}").tensorboard_dir
        if not folder:
            return None
        path = home.run(self.run_id).path / folder
        if self._has_own_metrics and self._events is None:
            size = sum(file.stat().st_size for file in find_event_files(path))
            return path if size <= _MAX_EVENT_BYTES else None
        return path

    def _fetch_mapping(
        self, counts: Mapping[MetricKey, int], returns: MetricKey | None, run: RunRecord
    ) -> AxisMapping:
        started_at = time.monotonic()
        if self._mapping is None or (
            self._mapping[0] != counts and started_at >= self._next_mapping
        ):
            if returns == RETURN:
                axis_mapping = self._episodes.axis_mapping()
            else:
                axis_mapping = fetch_axis_mapping(
                    self._client, self.run_id, counts, returns, _start_of(run)
                )
            self._mapping = (dict(counts), axis_mapping)
            took = time.monotonic() - started_at
            self._next_mapping = started_at + max(_MAPPING_S, took * _MAPPING_FACTOR)
        return self._mapping[1]

    def _curve(
        self, axis: XAxis, key: MetricKey, request: CurveRequest, info: ChartRunInfo
    ) -> Curve:
        axis_mapping = info.axis_mapping
        if key in info.from_events and self._events is not None:
            return self._events.curve(key, axis, request, axis_mapping, _start_of(info.run))
        request = request._replace(points=request.max_points(info.series.get(key, 0)))
        if key in (RETURN, LENGTH) and info.returns == RETURN:
            x, y = self._episodes.curve(key, axis)
            return Curve(x, y, len(x))
        if axis_mapping is None:
            return fetch_curve(self._client, self.run_id, key, request)
        if axis == "time":
            origin = axis_mapping.origin
            shifted = request._replace(
                first=_shift(request.first, origin), last=_shift(request.last, origin)
            )
            curve = fetch_curve(self._client, self.run_id, key, shifted, "t")
            return Curve(curve.x - origin, curve.y, curve.total)
        steps = request._replace(
            first=axis_mapping.step_of(request.first), last=axis_mapping.step_of(request.last)
        )
        curve = fetch_curve(self._client, self.run_id, key, steps)
        return Curve(axis_mapping.episodes_at(curve.x), curve.y, curve.total)


class ExportedRun(NamedTuple):
    """A run to export, with its title."""

    run_id: str
    title: str
    source: Source


def write_points(runs: Sequence[ExportedRun], keys: Sequence[MetricKey], path: Path) -> None:
    """Write all points of these metrics as CSV. Blocks. Raises `UserError` and `OSError`."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(_CSV_HEADER)
        for run_id, title, source in runs:
            for key in keys:
                for chunk in source.points(key):
                    for x, value in zip(chunk.x.tolist(), chunk.y.tolist(), strict=True):
                        step = int(x) if x == x // 1 else x
                        writer.writerow((run_id, title, key.name, key.agent, step, value))


def _start_of(run: RunRecord) -> float:
    return run.started_at or run.created_at


def _shift(x: float | None, by: float) -> float | None:
    return None if x is None else x + by
