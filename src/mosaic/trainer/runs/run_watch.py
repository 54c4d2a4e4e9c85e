"""RunWatch: what is seen of one run while it lives.

Its numbers, its manifest, and warnings when something about it needs a person's eye. Warnings
never end a run.
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
from mosaic.trainer.registry.failures import RegistryUnavailableError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.digest import DigestBuilder
from mosaic.trainer.runs.ingest_pool import IngestPool
from mosaic.trainer.storage.usage import size_of_run

_log = logging.getLogger(__name__)

_SCAN_EVERY_S = 5.0
_SCAN_SHARE = 20.0
_NO_PROGRESS_FACTOR = 10.0
"""A worker that beats but tells nothing else is given so many times longer."""


class WorkerStatus(NamedTuple):
    """What a worker said it does: number of the line (-1: none yet), word, and why."""

    seq: int
    word: str
    reason: str


class RunWatch:
    """Of one run. Safe from any thread; looking is blocking work."""

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
        self._waits_for_people = config.mode == "play"
        self._clock = clock
        self._lock = threading.Lock()
        self._builder = DigestBuilder(run, config.total_timesteps, clock)
        self._next_scan = float("-inf")
        self._has_resolved = False
        self._warnings: dict[str, str] = {}
        self._told: tuple[str, ...] | None = None
        self._beat = (-1, clock())
        self._grown = (-1, clock())

    @property
    def digest(self) -> RunStats:
        return self._builder.digest

    @property
    def bye(self) -> Bye | None:
        """The worker's farewell, as of the last look."""
        return self._builder.bye

    @property
    def status(self) -> WorkerStatus:
        """The worker's last `status` line, as of the last look."""
        told = self._builder.status
        if told is None:
            return WorkerStatus(-1, "", "")
        return WorkerStatus(self._builder.status_seq, told.state, told.reason or "")

    def look(self, *, may_stall: bool, final: bool = False) -> RunStats:
        """Bring everything up to date. `may_stall`: the run is supposed to be at work."""
        with self._lock:
            self._builder.update()
            if self._builder.resolved_config is not None and not self._has_resolved:
                resolved = self._redact(self._builder.resolved_config.decode(errors="replace"))
                self._registry.set_resolved_config(self._run.run_id, resolved.encode())
                self._has_resolved = True
            if final or self._clock() >= self._next_scan:
                self._scan()
            digest = self._builder.digest
            self._judge_ingest()
            self._judge_liveliness(digest, may_stall)
            self._tell()
            return digest

    def warn(self, topic: str, text: str) -> None:
        """Show `text` on the run, in place of what was said on the topic before; '' ends it."""
        with self._lock:
            self._set(topic, text)
            self._tell()

    def close(self) -> None:
        with self._lock:
            self._builder.close()

    def _scan(self) -> None:
        began = self._clock()
        try:
            manifest = scan_artifacts(self._run, self._builder.artifacts)
            if self._registry.set_manifest(self._run.run_id, manifest):
                write_manifest(self._run.manifest, manifest)
            self._set("manifest", "")
        except RegistryUnavailableError:
            raise
        except (UserError, OSError) as error:
            self._set("manifest", f"Its artifacts cannot be listed: {error}")
        self._builder.note_disk_use(size_of_run(self._run))
        # A folder of many thousands of files is not looked through all the time.
        self._next_scan = self._clock() + max(_SCAN_EVERY_S, (self._clock() - began) * _SCAN_SHARE)

    def _judge_ingest(self) -> None:
        status = self._ingest.status(self._run.run_id)
        blockage = status.fault if status else None
        self._set(
            "ingest",
            f"What it writes is not stored at the moment: {blockage.message}. {blockage.remedy}"
            if blockage
            else "",
        )

    def _judge_liveliness(self, digest: RunStats, may_stall: bool) -> None:
        now = self._clock()
        beats = self._builder.heartbeat_seq
        if beats != self._beat[0]:
            self._beat = (beats, now)
        # Heartbeats make the spool grow too, so what counts as progress is anything else.
        grown = digest.steps + digest.episodes + digest.metrics
        if grown != self._grown[0]:
            self._grown = (grown, now)
        if not may_stall:
            self._beat, self._grown = (beats, now), (grown, now)
        silent_s, idle_s = now - self._beat[1], now - self._grown[1]
        warning = ""
        if beats >= 0 and silent_s > self._stalled_after_s:
            warning = (
                f"No sign of life for {silent_s:.0f} s. It may hang; `mosaic runs stop` ends it."
            )
        elif idle_s > self._stalled_after_s * _NO_PROGRESS_FACTOR and not self._waits_for_people:
            warning = f"Nothing new from it for {idle_s:.0f} s; its processes live."
        if bool(warning) != bool(self._warnings.get("stalled")):
            self._set("stalled", warning)
            _log.warning("T303 run %s: %s", self._run.run_id, warning or "it goes on")

    def _set(self, topic: str, text: str) -> None:
        if text:
            self._warnings[topic] = text
        else:
            self._warnings.pop(topic, None)

    def _tell(self) -> None:
        warnings = tuple(self._warnings.values())
        if warnings != self._told:
            self._registry.set_warnings(self._run.run_id, warnings)
            self._told = warnings
