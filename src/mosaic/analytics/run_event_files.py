"""Exports a run as a TensorBoard event file: metrics, and returns and lengths of episodes.

Used by `mosaic runs export --tensorboard` and the window's TensorBoard page.
"""

import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from mosaic.analytics.event_files import EventFileWriter
from mosaic.contract.episodes import EpisodePage, EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.events import Metric
from mosaic.contract.runs import RunRecord

RETURN_TAG = "episodes/return"
LENGTH_TAG = "episodes/length"
_EPISODES_PER_PAGE = 1_000
_CLOCK_INTERVAL = 50
"""Every N-th metric is used to map steps to times."""


class RunMetricsSource(Protocol):
    """What an export needs of the client: a `TrainerClient`."""

    def metrics(
        self, run_id: str
    ) -> AbstractContextManager[Iterable[tuple[int, Metric]], None]: ...

    def episodes_page(self, run_id: str, *, first: int, count: int) -> EpisodePage: ...


class EventFileExport(NamedTuple):
    """The written file."""

    path: Path
    points: int
    tags: int


def export_event_file(
    client: RunMetricsSource,
    run: RunRecord,
    folder: Path,
    *,
    stop: threading.Event | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> EventFileExport:
    """Write one event file into `folder`; `on_progress` is called with the number of points so far.

    Raises `UserError` if the run has no data, the folder is not writable, or `stop` is set.
    """
    progress = _Progress(stop or threading.Event(), on_progress)
    started_at = run.started_at or run.created_at
    try:
        with EventFileWriter(folder, started_at) as file:
            clock = _write_metrics(client, run.run_id, file, progress, started_at)
            _write_episodes(client, run.run_id, file, progress, clock)
            if not progress.count:
                raise UserError(
                    "The run has no metrics and no finished episodes.",
                    remedy="Export it later; TensorBoard would have nothing to show.",
                    code="C240",
                )
    except OSError as error:
        raise UserError(
            f"The event file cannot be written to {folder}: {error.strerror}.",
            remedy="Choose a writable folder on a disk with free space.",
            code="C241",
        ) from error
    return EventFileExport(file.path, progress.count, len(progress.tags))


class _Progress:
    """Counts the written points and checks for cancellation."""

    def __init__(self, stop: threading.Event, on_progress: Callable[[int], None]) -> None:
        self.count = 0
        self.tags: set[str] = set()
        self._stop = stop
        self._on_progress = on_progress

    def add(self, scalars: Mapping[str, float]) -> None:
        if self._stop.is_set():
            raise UserError("The export was cancelled.", remedy="Nothing was written.")
        self.count += len(scalars)
        self.tags.update(scalars)
        self._on_progress(self.count)


class _Clock:
    """Maps steps to times by interpolation between metrics, starting at the start of the run."""

    def __init__(self, started_at: float) -> None:
        self._steps = array("d", [0.0])
        self._times = array("d", [started_at])

    def add(self, step: int, t: float) -> None:
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
        start_time, end_time = self._times[after - 1], self._times[after]
        return start_time + (end_time - start_time) * (step - first) / (last - first)


def _write_metrics(
    client: RunMetricsSource,
    run_id: str,
    file: EventFileWriter,
    progress: _Progress,
    started_at: float,
) -> _Clock:
    clock = _Clock(started_at)
    newest = started_at
    with client.metrics(run_id) as metrics:
        for number, (_, metric) in enumerate(metrics):
            step = number if metric.step is None else metric.step
            newest = newest if metric.t is None else metric.t
            if metric.step is not None and metric.t is not None and number % _CLOCK_INTERVAL == 0:
                clock.add(step, newest)
            scalars = _metric_scalars(metric)
            progress.add(scalars)
            file.add(newest, step, scalars)
    return clock


def _write_episodes(
    client: RunMetricsSource, run_id: str, file: EventFileWriter, progress: _Progress, clock: _Clock
) -> None:
    """Write each episode at its last step; episodes have no time of their own."""
    steps = first = 0
    while True:
        page = client.episodes_page(run_id, first=first, count=_EPISODES_PER_PAGE)
        for episode in page.episodes:
            steps += _episode_length(episode)
            if episode.is_over:
                scalars = _episode_scalars(episode)
                progress.add(scalars)
                file.add(clock.time_at(steps), steps, scalars)
        first += len(page.episodes)
        if len(page.episodes) < _EPISODES_PER_PAGE:
            return


def _metric_scalars(metric: Metric) -> dict[str, float]:
    named = metric.values if metric.values is not None else {metric.name or "": metric.value or 0.0}
    agent = f"{metric.agent_id}/" if metric.agent_id else ""
    return {f"{agent}{name}": value for name, value in named.items()}


def _episode_scalars(episode: EpisodeRollup) -> dict[str, float]:
    agent = f"{episode.agent_id}/" if episode.agent_id else ""
    # A worker that omits steps reports return and length of the complete episode.
    reported = episode.reported_return
    return {
        f"{agent}{RETURN_TAG}": episode.total_return if reported is None else reported,
        f"{agent}{LENGTH_TAG}": float(_episode_length(episode)),
    }


def _episode_length(episode: EpisodeRollup) -> int:
    return episode.steps if episode.reported_steps is None else episode.reported_steps
