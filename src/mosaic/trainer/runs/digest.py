"""DigestBuilder: one run in numbers, read from its store as it grows.

It also notices what the daemon acts upon: the worker's resolved configuration, announced
artifacts, the last status and the farewell.
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
from mosaic.contract.runs import RunStats
from mosaic.telemetry.errors import RETRYABLE_ERRORS
from mosaic.telemetry.reader import StoredEvent, TelemetryReader

_log = logging.getLogger(__name__)

_MEAN_OF = 100
_MOST_ARTIFACTS = 10_000
_SPEED_WINDOW_S = 10.0
_Kind = TypeVar("_Kind", bound=Event)


class DigestBuilder:
    """Of one run. Not thread-safe: one caller at a time."""

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
        self._stepping = _Pace()
        self._progressing = _Pace()
        self._artifact_seqs = {"artifact": -1, "artifacts": -1}
        self.digest = RunStats()
        self.resolved_config: bytes | None = None
        self.artifacts: list[Artifact] = []
        self.status: Status | None = None
        self.status_seq = -1
        self.bye: Bye | None = None
        self.heartbeat_seq = -1

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def update(self) -> RunStats:
        """Look at the store again. An absent store leaves everything as it was."""
        if self._reader is None:
            if not self._run.store.is_file():
                return self.digest
            try:
                self._reader = TelemetryReader(self._run)
            except UserError:
                return self.digest  # no tables yet, or damaged: ingest tells of that
        try:
            self._notice(self._reader)
            self.digest = self._made(self._reader)
        except RETRYABLE_ERRORS as error:
            _log.warning("T153 the store of %s cannot be read: %s", self._run.run_id, error)
            self.close()
        return self.digest

    def note_disk_use(self, disk_bytes: int) -> None:
        """Whoever looks through the directory tells what it holds."""
        self.digest = msgspec.structs.replace(self.digest, disk_bytes=disk_bytes)

    def _notice(self, reader: TelemetryReader) -> None:
        if self.resolved_config is None:
            config = reader.newest_event(tag_of(ConfigEvent))
            self.resolved_config = config.line if config else None
        status = reader.newest_event(tag_of(Status))
        if status is not None and status.seq != self.status_seq:
            self.status, self.status_seq = _decoded(status, Status), status.seq
        bye = reader.newest_event(tag_of(Bye))
        self.bye = _decoded(bye, Bye)
        for kind, seen in self._artifact_seqs.items():
            for event in reader.events_after(seen, kind):
                self._artifact_seqs[kind] = event.seq
                self._add_artifacts(event)

    def _add_artifacts(self, event: StoredEvent) -> None:
        announced = decode(event.line)
        if isinstance(announced, LegacyArtifacts):
            self.artifacts += _of_older_form(announced)
        elif isinstance(announced, Artifact):
            self.artifacts.append(announced)
        del self.artifacts[:-_MOST_ARTIFACTS]

    def _made(self, reader: TelemetryReader) -> RunStats:
        stats = reader.counts()
        returns = reader.recent_returns(_MEAN_OF)
        step = reader.newest_step()
        beat_event = reader.newest_event(tag_of(Heartbeat))
        beat = _decoded(beat_event, Heartbeat)
        self.heartbeat_seq = beat_event.seq if beat_event else -1
        done, total, unit, eta_s = self._progress(reader, beat, stats.steps)
        now = self._clock()
        steps = max(
            float(stats.steps),
            float(beat.global_step or 0) if beat else 0.0,
            done or 0.0 if unit == "steps" else 0.0,
        )
        speed = self._stepping.per_second(now, steps)
        pace = self._progressing.per_second(now, done) if done is not None else None
        if eta_s is None and done is not None and total and pace:
            eta_s = max(0.0, (total - done) / pace)
        return RunStats(
            steps=stats.steps,
            episodes=stats.episodes,
            metrics=stats.metrics,
            last_step_at=_finite(step.t if step else None) or self._growth_seen_at(stats.steps),
            latest_return=returns[0] if returns else None,
            mean_return=math.fsum(returns) / len(returns) if _all_finite(returns) else None,
            sps=_finite(beat.sps if beat is not None and beat.sps is not None else speed),
            progress_done=done,
            progress_total=total,
            progress_unit=unit,
            eta_s=_finite(eta_s),
            heartbeat_at=_finite(beat.t if beat else None),
            rss_bytes=beat.rss_bytes if beat else None,
            rejects=stats.rejects,
            spool_bytes=self._run.spool.stat().st_size if self._run.spool.is_file() else 0,
            committed_bytes=stats.committed_bytes,
            disk_bytes=self.digest.disk_bytes,
        )

    def _progress(
        self, reader: TelemetryReader, beat: Heartbeat | None, steps: int
    ) -> tuple[float | None, float | None, str, float | None]:
        told = _decoded(reader.newest_event(tag_of(Progress)), Progress)
        if told is not None:
            done = _finite(told.done)
            if done is not None and told.unit == "steps":
                # Told now and then; the steps that have come since count too.
                done = max(done, float(steps), float(beat.global_step or 0) if beat else 0.0)
            return done, _finite(told.total), told.unit, told.eta_s
        if self._total is None:
            return None, None, "", None
        done = beat.global_step if beat is not None and beat.global_step else steps
        return float(done), float(self._total), "steps", None

    def _growth_seen_at(self, steps: int) -> float | None:
        """For steps without a time of their own: when they were first seen here."""
        if steps != self.digest.steps:
            return time.time()
        return self.digest.last_step_at


class _Pace:
    """How fast something has grown of late."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, float]] = []

    def per_second(self, now: float, done: float) -> float | None:
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > _SPEED_WINDOW_S:
            del self._seen[0]
        began, before = self._seen[0]
        return (done - before) / (now - began) if now > began and done > before else None


def _decoded(event: StoredEvent | None, kind: type[_Kind]) -> _Kind | None:
    decoded = decode(event.line) if event else None
    return decoded if isinstance(decoded, kind) else None


def _of_older_form(announced: LegacyArtifacts) -> Iterator[Artifact]:
    if announced.video and isinstance(announced.video, str):
        yield Artifact(kind="video", path=announced.video)
    if announced.tensorboard and isinstance(announced.tensorboard, str):
        yield Artifact(kind="tensorboard", path=announced.tensorboard)
    if announced.wandb_url and isinstance(announced.wandb_url, str):
        yield Artifact(kind="wandb", url=announced.wandb_url)


def _finite(value: float | None) -> float | None:
    """None for what a worker told in place of a number."""
    number = None if value is None else numbers.as_float(value)
    return number if number is not None and math.isfinite(number) else None


def _all_finite(values: list[float]) -> bool:
    return bool(values) and all(map(math.isfinite, values))
