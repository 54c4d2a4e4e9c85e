"""RunStatsBuilder: the statistics of one run, read from its store as it grows.

It also collects the events that the daemon acts upon: the worker's resolved configuration,
announced artifacts, the last `status` and `bye`.
"""

import logging
import math
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from mosaic.contract import numbers
from mosaic.contract.decode import decode
from mosaic.contract.errors import UserError
from mosaic.contract.events import (
    Artifact,
    Bye,
    ConfigEvent,
    Event,
    Heartbeat,
    LegacyArtifacts,
    Progress,
    Status,
    tag_of,
)
from mosaic.contract.layout import RunDirectory
from mosaic.contract.regular_files import regular_size
from mosaic.contract.runs import RunStats
from mosaic.telemetry.errors import RETRYABLE_ERRORS
from mosaic.telemetry.reader import StoredEvent, TelemetryReader

_log = logging.getLogger(__name__)

_RETURNS_AVERAGED = 100
_MAX_ARTIFACTS = 10_000
_SPEED_WINDOW_S = 10.0
_Kind = TypeVar("_Kind", bound=Event)


class RunStatsBuilder:
    """Builds the digest of one run. Not thread-safe: one caller at a time."""

    def __init__(
        self,
        run: RunDirectory,
        total_timesteps: int | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run = run
        self._total = total_timesteps
        self._clock = clock
        self._reader: TelemetryReader | None = None
        self._step_rate = _Rate()
        self._progress_rate = _Rate()
        self._artifact_seqs = {"artifact": -1, "artifacts": -1}
        self.digest = RunStats()
        self.resolved_config: bytes | None = None
        self.artifacts: list[Artifact] = []
        self.status: Status | None = None
        self.status_seq = -1
        self.bye: Bye | None = None
        self.heartbeat_seq = -1
        self.mixed_episodes = 0

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def update(self) -> RunStats:
        """Read the store again. Without a store, nothing changes."""
        if self._reader is None:
            if not self._run.store.is_file():
                return self.digest
            try:
                self._reader = TelemetryReader(self._run)
            except UserError:
                return self.digest  # no tables yet, or damaged, which ingest reports
        try:
            self._read_events(self._reader)
            self.digest = self._build(self._reader)
        except RETRYABLE_ERRORS as error:
            _log.warning("T153 the store of %s cannot be read: %s", self._run.run_id, error)
            self.close()
        return self.digest

    def set_disk_bytes(self, disk_bytes: int) -> None:
        """The size of the run's directory, which the artifact scan measures."""
        self.digest = msgspec.structs.replace(self.digest, disk_bytes=disk_bytes)

    def _read_events(self, reader: TelemetryReader) -> None:
        if self.resolved_config is None:
            config = reader.newest_event(tag_of(ConfigEvent))
            self.resolved_config = config.line if config else None
        status = reader.newest_event(tag_of(Status))
        if status is not None and status.seq != self.status_seq:
            self.status, self.status_seq = _decode(status, Status), status.seq
        bye = reader.newest_event(tag_of(Bye))
        self.bye = _decode(bye, Bye)
        for kind, seen in self._artifact_seqs.items():
            for event in reader.events_after(seen, kind):
                self._artifact_seqs[kind] = event.seq
                self._add_artifacts(event)

    def _add_artifacts(self, event: StoredEvent) -> None:
        announced = decode(event.line)
        if isinstance(announced, LegacyArtifacts):
            self.artifacts += _convert_legacy(announced)
        elif isinstance(announced, Artifact):
            self.artifacts.append(announced)
        del self.artifacts[:-_MAX_ARTIFACTS]

    def _build(self, reader: TelemetryReader) -> RunStats:
        stats = reader.counts()
        self.mixed_episodes = stats.mixed_episodes
        returns = reader.recent_returns(_RETURNS_AVERAGED)
        step = reader.newest_step()
        heartbeat_event = reader.newest_event(tag_of(Heartbeat))
        heartbeat = _decode(heartbeat_event, Heartbeat)
        self.heartbeat_seq = heartbeat_event.seq if heartbeat_event else -1
        done, total, unit, eta_s = self._progress(reader, heartbeat, stats.steps)
        now = self._clock()
        steps = max(
            float(stats.steps),
            float(heartbeat.global_step or 0) if heartbeat else 0.0,
            done or 0.0 if unit == "steps" else 0.0,
        )
        speed = self._step_rate.per_second(now, steps)
        pace = self._progress_rate.per_second(now, done) if done is not None else None
        if eta_s is None and done is not None and total and pace:
            eta_s = max(0.0, (total - done) / pace)
        return RunStats(
            steps=stats.steps,
            episodes=stats.episodes,
            metrics=stats.metrics,
            last_step_at=_finite(step.t if step else None) or self._last_growth_at(stats.steps),
            latest_return=returns[0] if returns else None,
            mean_return=_mean(returns) if _all_finite(returns) else None,
            sps=_finite(
                heartbeat.sps if heartbeat is not None and heartbeat.sps is not None else speed
            ),
            progress_done=done,
            progress_total=total,
            progress_unit=unit,
            eta_s=_finite(eta_s),
            heartbeat_at=_finite(heartbeat.t if heartbeat else None),
            rss_bytes=heartbeat.rss_bytes if heartbeat else None,
            rejects=stats.rejects,
            spool_bytes=regular_size(self._run.spool),
            committed_bytes=stats.committed_bytes,
            disk_bytes=self.digest.disk_bytes,
        )

    def _progress(
        self, reader: TelemetryReader, heartbeat: Heartbeat | None, steps: int
    ) -> tuple[float | None, float | None, str, float | None]:
        progress = _decode(reader.newest_event(tag_of(Progress)), Progress)
        if progress is not None:
            done = _finite(progress.done)
            if done is not None and progress.unit == "steps":
                # Progress is reported now and then; steps since then count too.
                done = max(
                    done, float(steps), float(heartbeat.global_step or 0) if heartbeat else 0.0
                )
            return done, _finite(progress.total), progress.unit, progress.eta_s
        if self._total is None:
            return None, None, "", None
        done = heartbeat.global_step if heartbeat is not None and heartbeat.global_step else steps
        return float(done), float(self._total), "steps", None

    def _last_growth_at(self, steps: int) -> float | None:
        """For steps without a timestamp: when they were first read here."""
        if steps != self.digest.steps:
            return time.time()
        return self.digest.last_step_at


class _Rate:
    """The recent growth rate of a number."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, float]] = []

    def per_second(self, now: float, done: float) -> float | None:
        self._samples.append((now, done))
        while len(self._samples) > 2 and now - self._samples[0][0] > _SPEED_WINDOW_S:
            del self._samples[0]
        start, before = self._samples[0]
        return (done - before) / (now - start) if now > start and done > before else None


def _decode(event: StoredEvent | None, kind: type[_Kind]) -> _Kind | None:
    decoded = decode(event.line) if event else None
    return decoded if isinstance(decoded, kind) else None


def _convert_legacy(announced: LegacyArtifacts) -> Iterator[Artifact]:
    if announced.video and isinstance(announced.video, str):
        yield Artifact(kind="video", path=announced.video)
    if announced.tensorboard and isinstance(announced.tensorboard, str):
        yield Artifact(kind="tensorboard", path=announced.tensorboard)
    if announced.wandb_url and isinstance(announced.wandb_url, str):
        yield Artifact(kind="wandb", url=announced.wandb_url)


def _finite(value: float | None) -> float | None:
    """None for a value that is not a finite number."""
    number = None if value is None else numbers.as_float(value)
    return number if number is not None and math.isfinite(number) else None


def _all_finite(values: list[float]) -> bool:
    return bool(values) and all(map(math.isfinite, values))


def _mean(values: list[float]) -> float:
    """The mean of finite numbers, which is finite although their sum may overflow."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(value / len(values) for value in values)
