"""Any run as an event file: its metrics, and returns and lengths of its episodes.

For `mosaic runs export --tensorboard` and the window's TensorBoard page. A `TrainerClient` is what
is asked; of it, only what is declared here is used.
"""

import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from mosaic.analytics.event_file_writer import EventFileWriter
from mosaic.contract.episodes import EpisodePage, EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.events import Metric
from mosaic.contract.runs import RunRecord

RETURN_TAG = "episodes/return"
LENGTH_TAG = "episodes/length"
_EPISODES_PER_PAGE = 1_000
_KNOTS_APART = 50
"""Metrics between two that say which time and which step belong together."""


class RunMetricsSource(Protocol):
    """What is asked of the daemon."""

    def metrics(
        self, run_id: str
    ) -> AbstractContextManager[Iterable[tuple[int, Metric]], None]: ...

    def episodes_page(self, run_id: str, *, first: int, count: int) -> EpisodePage: ...


class Exported(NamedTuple):
    """What was written."""

    path: Path
    points: int
    tags: int


class ExportCancelledError(UserError):
    """Somebody has called it off."""

    def __init__(self) -> None:
        super().__init__("The export was cancelled.", remedy="Nothing was written.")


def export_event_file(
    client: RunMetricsSource,
    run: RunRecord,
    folder: Path,
    *,
    stop: threading.Event | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Exported:
    """Write one event file into `folder`; `on_progress` hears how many points there are so far.

    UserError when the run has told no numbers, or the folder cannot be written.
    """
    points = _Points(stop or threading.Event(), on_progress)
    begun_at = run.started_at or run.created_at
    try:
        with EventFileWriter(folder, begun_at) as file:
            clock = _write_metrics(client, run.run_id, file, points, begun_at)
            _write_episodes(client, run.run_id, file, points, clock)
            if not points.count:
                raise UserError(
                    "The run has told no metrics and has finished no episode.",
                    remedy="Export it once it has; TensorBoard would have nothing to show.",
                    code="C240",
                )
    except OSError as error:
        raise UserError(
            f"The event file cannot be written to {folder}: {error.strerror}.",
            remedy="Choose a folder that you may write, on a disk with free space.",
            code="C241",
        ) from error
    return Exported(file.path, points.count, len(points.tags))


class _Points:
    """Counts what is written, and lets it be called off."""

    def __init__(self, stop: threading.Event, on_progress: Callable[[int], None]) -> None:
        self.count = 0
        self.tags: set[str] = set()
        self._stop = stop
        self._on_progress = on_progress

    def add(self, numbers: Mapping[str, float]) -> None:
        if self._stop.is_set():
            raise ExportCancelledError
        self.count += len(numbers)
        self.tags.update(numbers)
        self._on_progress(self.count)


class _Clock:
    """Which time belongs to a step, from metrics; before the first it is the run's start."""

    def __init__(self, begun_at: float) -> None:
        self._steps = array("d", [0.0])
        self._times = array("d", [begun_at])

    def learn(self, step: int, t: float) -> None:
        if step > self._steps[-1] and t >= self._times[-1]:
            self._steps.append(step)
            self._times.append(t)

    def time_at(self, step: int) -> float:
        after = bisect_left(self._steps, step)
        if after >= len(self._steps):
            return self._times[-1]
        if self._steps[after] == step or after == 0:
            return self._times[after]
        first, last = self._steps[after - 1], self._steps[after]
        begin, end = self._times[after - 1], self._times[after]
        return begin + (end - begin) * (step - first) / (last - first)


def _write_metrics(
    client: RunMetricsSource, run_id: str, file: EventFileWriter, points: _Points, begun_at: float
) -> _Clock:
    clock = _Clock(begun_at)
    newest = begun_at
    with client.metrics(run_id) as metrics:
        for number, (_, metric) in enumerate(metrics):
            step = number if metric.step is None else metric.step
            newest = newest if metric.t is None else metric.t
            if metric.step is not None and metric.t is not None and number % _KNOTS_APART == 0:
                clock.learn(step, newest)
            numbers = _numbers_of(metric)
            points.add(numbers)
            file.add(newest, step, numbers)
    return clock


def _write_episodes(
    client: RunMetricsSource, run_id: str, file: EventFileWriter, points: _Points, clock: _Clock
) -> None:
    """At the step at which each was over; episodes themselves have no time."""
    steps = first = 0
    while True:
        page = client.episodes_page(run_id, first=first, count=_EPISODES_PER_PAGE)
        for episode in page.episodes:
            steps += _length_of(episode)
            if episode.is_over:
                numbers = _numbers_of_episode(episode)
                points.add(numbers)
                file.add(clock.time_at(steps), steps, numbers)
        first += len(page.episodes)
        if len(page.episodes) < _EPISODES_PER_PAGE:
            return


def _numbers_of(metric: Metric) -> dict[str, float]:
    named = metric.values if metric.values is not None else {metric.name or "": metric.value or 0.0}
    agent = f"{metric.agent_id}/" if metric.agent_id else ""
    return {f"{agent}{name}": value for name, value in named.items()}


def _numbers_of_episode(episode: EpisodeRollup) -> dict[str, float]:
    agent = f"{episode.agent_id}/" if episode.agent_id else ""
    # A worker that leaves steps out says itself what the whole episode was.
    reported = episode.reported_return
    return {
        f"{agent}{RETURN_TAG}": episode.total_return if reported is None else reported,
        f"{agent}{LENGTH_TAG}": float(_length_of(episode)),
    }


def _length_of(episode: EpisodeRollup) -> int:
    return episode.steps if episode.reported_steps is None else episode.reported_steps
