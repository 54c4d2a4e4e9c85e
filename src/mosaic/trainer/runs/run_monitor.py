"""RunMonitor: keeps the digest, the manifest and the warnings of one run up to date.

Warnings are shown to the user; they never stop a run.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from mosaic.contract.errors import UserError
from mosaic.contract.events import Bye
from mosaic.contract.layout import RunDirectory
from mosaic.contract.manifest import write_manifest
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.runs import RunStats
from mosaic.trainer.artifacts.artifact_scan import scan_artifacts
from mosaic.trainer.registry.errors import RegistryUnavailableError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.ingest_pool import IngestPool
from mosaic.trainer.runs.run_stats import RunStatsBuilder
from mosaic.trainer.storage.usage import size_of_run

_log = logging.getLogger(__name__)

_SCAN_EVERY_S = 5.0
_SCAN_IDLE_FACTOR = 20.0
_NO_PROGRESS_FACTOR = 10.0
"""A worker with heartbeats but without progress is given this many times longer."""


class WorkerStatus(NamedTuple):
    """The last `status` line of a worker: its sequence number (-1: none yet), state and reason."""

    seq: int
    state: str
    reason: str


class RunMonitor:
    """Monitors one run. Blocking; safe from any thread."""

    def __init__(
        self,
        run: RunDirectory,
        config: TrainRunConfig,
        registry: RunRegistry,
        ingest: IngestPool,
        stalled_after_s: float,
        redact: Callable[[str], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run = run
        self._redact = redact
        self._registry = registry
        self._ingest = ingest
        self._stalled_after_s = stalled_after_s
        self._is_interactive = config.mode == "play"
        self._clock = clock
        self._lock = threading.Lock()
        self._builder = RunStatsBuilder(run, config.total_timesteps, clock)
        self._next_scan = float("-inf")
        self._has_resolved = False
        self._warnings: dict[str, str] = {}
        self._published: tuple[str, ...] | None = None
        self._heartbeat = (-1, clock())
        self._progress = (-1, clock())

    @property
    def digest(self) -> RunStats:
        return self._builder.digest

    @property
    def bye(self) -> Bye | None:
        """The worker's `bye` event, as of the last refresh."""
        return self._builder.bye

    @property
    def status(self) -> WorkerStatus:
        """The worker's last `status` line, as of the last refresh."""
        status = self._builder.status
        if status is None:
            return WorkerStatus(-1, "", "")
        return WorkerStatus(self._builder.status_seq, status.state, status.reason or "")

    def refresh(self, *, may_stall: bool, final: bool = False) -> RunStats:
        """Update everything. `may_stall`: the run is expected to make progress."""
        with self._lock:
            self._attempt("stats", "Its statistics are incomplete", self._builder.update)
            self._attempt("resolved", "Its configuration is incomplete", self._store_resolved)
            if final or self._clock() >= self._next_scan:
                self._attempt("artifacts", "Its artifacts are incomplete", self._scan)
            digest = self._builder.digest
            self._check_ingest()
            self._check_agents()
            self._check_progress(digest, may_stall)
            self._publish()
            return digest

    def record_final(self) -> None:
        """Store the final statistics. Raises `UserError` only: a bug must not prevent the end."""
        digest = self.refresh(may_stall=False, final=True)
        try:
            self._registry.set_digests({self._run.run_id: digest})
        except UserError:
            raise
        except Exception as error:  # noqa: BLE001 - a worker's data can be anything
            _log.exception("T162 the statistics of %s cannot be stored", self._run.run_id)
            self.warn("stats", f"Its statistics cannot be stored: {error!r}")

    def check_completeness(self, spool_bytes: int | None) -> None:
        """Warn if fewer than the bytes that the worker wrote are stored, at the end of a run."""
        missing = (spool_bytes or 0) - self.digest.committed_bytes
        if missing > 0:
            text = f"{missing} bytes of its telemetry are lost: its worker removed or changed them."
            self.warn("lost", text)

    def warn(self, topic: str, text: str) -> None:
        """Set the run's warning on this topic; an empty text removes it."""
        with self._lock:
            self._set(topic, text)
            self._publish()

    def close(self) -> None:
        with self._lock:
            self._builder.close()

    def _attempt(self, topic: str, consequence: str, work: Callable[[], object]) -> None:
        """Do one part of a refresh; an unexpected error becomes a warning on `topic`.

        Whatever a worker wrote, it prevents neither the other parts nor recording the run's end.
        """
        warning = ""
        try:
            work()
        except UserError:
            raise
        except Exception as error:  # noqa: BLE001 - a worker's data can be anything
            warning = f"{consequence}: {error!r}"
            if self._warnings.get(topic) != warning:
                _log.exception("T161 run %s: %s", self._run.run_id, consequence)
        self._set(topic, warning)

    def _store_resolved(self) -> None:
        if self._builder.resolved_config is not None and not self._has_resolved:
            resolved = self._redact(self._builder.resolved_config.decode(errors="replace"))
            self._registry.set_resolved_config(self._run.run_id, resolved.encode())
            self._has_resolved = True

    def _scan(self) -> None:
        start = self._clock()
        try:
            manifest = scan_artifacts(self._run, self._builder.artifacts)
            if self._registry.set_manifest(self._run.run_id, manifest):
                write_manifest(self._run.manifest, manifest)
            self._set("manifest", "")
        except RegistryUnavailableError:
            raise
        except (UserError, OSError) as error:
            self._set("manifest", f"Its artifacts cannot be listed: {error}")
        self._builder.set_disk_bytes(size_of_run(self._run))
        # A folder of many thousands of files is scanned less often.
        self._next_scan = self._clock() + max(
            _SCAN_EVERY_S, (self._clock() - start) * _SCAN_IDLE_FACTOR
        )

    def _check_ingest(self) -> None:
        status = self._ingest.status(self._run.run_id)
        fault = status.fault if status else None
        if status and status.spool_problem:
            self._set("spool", f"{status.spool_problem[0].upper()}{status.spool_problem[1:]}.")
        self._set("store", status.store_problem if status else "")
        self._set(
            "ingest",
            f"Its telemetry is not stored at the moment: {fault.message}. {fault.remedy}"
            if fault
            else "",
        )

    def _check_agents(self) -> None:
        count = self._builder.mixed_episodes
        text = f"{count} episodes have lines of several agents, which cannot be distinguished: "
        remedy = "each agent needs its own `episode_id`."
        self._set("agents", text + remedy if count else "")

    def _check_progress(self, digest: RunStats, may_stall: bool) -> None:
        now = self._clock()
        heartbeat_seq = self._builder.heartbeat_seq
        if heartbeat_seq != self._heartbeat[0]:
            self._heartbeat = (heartbeat_seq, now)
        # Heartbeats make the spool grow too, so progress is anything else.
        progress = digest.steps + digest.episodes + digest.metrics
        if progress != self._progress[0]:
            self._progress = (progress, now)
        if not may_stall:
            self._heartbeat, self._progress = (heartbeat_seq, now), (progress, now)
        silent_s, idle_s = now - self._heartbeat[1], now - self._progress[1]
        warning = ""
        if heartbeat_seq >= 0 and silent_s > self._stalled_after_s:
            warning = (
                f"No heartbeat for {silent_s:.0f} s. It may hang; `mosaic runs stop` stops it."
            )
        elif idle_s > self._stalled_after_s * _NO_PROGRESS_FACTOR and not self._is_interactive:
            warning = f"No progress for {idle_s:.0f} s; its processes are alive."
        if bool(warning) != bool(self._warnings.get("stalled")):
            self._set("stalled", warning)
            _log.warning("T303 run %s: %s", self._run.run_id, warning or "it responds again")

    def _set(self, topic: str, text: str) -> None:
        if text:
            self._warnings[topic] = text
        else:
            self._warnings.pop(topic, None)

    def _publish(self) -> None:
        warnings = tuple(self._warnings.values())
        if warnings != self._published:
            self._registry.set_warnings(self._run.run_id, warnings)
            self._published = warnings
