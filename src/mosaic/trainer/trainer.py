"""Trainer: creates and connects the services of the daemon; `mosaic.trainer.daemon` serves it."""

import asyncio
import logging
import time
from contextlib import suppress
from pathlib import Path

import mosaic
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.runs import RunStats
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.concurrency import run_in_long_thread, run_in_thread
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.machine.machine import Machine
from mosaic.trainer.preflight.preflight_report import Preflight
from mosaic.trainer.processes.launcher import LocalLauncher
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.commit_signals import REGISTRY, CommitSignals
from mosaic.trainer.runs.dispatcher import Dispatcher
from mosaic.trainer.runs.ingest_pool import IngestPool
from mosaic.trainer.runs.recovery import Recovered, Recovery
from mosaic.trainer.runs.run_services import RunServices
from mosaic.trainer.secrets import Secrets
from mosaic.trainer.storage.artifact_removal import CheckpointRemoval
from mosaic.trainer.storage.checkpoints import Checkpoints
from mosaic.trainer.storage.datasets import Datasets
from mosaic.trainer.storage.retention import RetentionService
from mosaic.trainer.storage.usage import measure_unmeasured_runs
from mosaic.trainer.workers.found_worker import FoundWorker
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_description import DescriptionCache
from mosaic.trainer.workers.worker_layout import CHECKOUT_WORKERS

_log = logging.getLogger(__name__)

_MAINTENANCE_INTERVAL_S = 6 * 3600.0

CHECKOUT = Path(mosaic.__file__).parents[2]


class Trainer:
    """Created on the event loop. Its services are safe from any thread."""

    def __init__(
        self, home: Home, settings: DaemonSettings, registry: RunRegistry, commits: CommitSignals
    ) -> None:
        self.home = home
        self.settings = settings
        self.registry = registry
        self.commits = commits
        self.started_at = time.time()
        self.problems: list[str] = [registry.set_aside_reason] if registry.set_aside else []
        """Problems to show to the user, in `mosaic daemon status`."""
        self.catalog = WorkerCatalog(
            (CHECKOUT_WORKERS, *settings.own_worker_folders),
            cache=DescriptionCache(home.worker_descriptions),
        )
        self.bundles = BundleStore(home, self.catalog)
        self.machine = Machine()
        self.secrets = Secrets(home, CHECKOUT)
        self.preflight = Preflight(
            home,
            self.catalog,
            self.bundles,
            self.machine,
            registry,
            self.secrets,
            settings,
        )
        self.checkpoints = Checkpoints(home, registry)
        self.checkpoint_removal = CheckpointRemoval(home, registry, self.checkpoints)
        self.datasets = Datasets(home, registry)
        self.retention = RetentionService(home, registry, settings)
        self.ingest = IngestPool(self._on_commit)
        self._launcher = LocalLauncher()
        services = RunServices(
            home=home,
            settings=settings,
            registry=registry,
            catalog=self.catalog,
            bundles=self.bundles,
            machine=self.machine,
            secrets=self.secrets,
            checkpoints=self.checkpoints,
            launcher=self._launcher,
            ingest=self.ingest,
            commits=commits,
        )
        self.dispatcher = Dispatcher(services, self.problems)
        self._maintenance: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, home: Home, settings: DaemonSettings) -> "Trainer":
        """Recover first: when this returns, every run is queued, monitored or finished."""
        for folder in (home.trainer, home.runs, home.configs, home.logs):
            await run_in_thread(folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        commits = CommitSignals()
        registry = await run_in_thread(
            RunRegistry, home.registry, on_change=lambda: commits.notify(REGISTRY)
        )
        trainer = cls(home, settings, registry, commits)
        recovered = await run_in_thread(trainer._recover)
        await run_in_thread(trainer.checkpoints.imported.clean)
        await trainer.dispatcher.start(recovered)
        trainer._maintenance = asyncio.create_task(trainer._run_maintenance())
        return trainer

    async def close(self) -> None:
        """Runs continue; the next daemon reattaches to them."""
        await self.dispatcher.close()
        await run_in_thread(self.ingest.close)
        if self._maintenance is not None:
            self._maintenance.cancel()
        await run_in_thread(self.registry.close)

    def digest(self, run_id: str) -> RunStats | None:
        """The newest digest of a live run."""
        return self.dispatcher.digest(run_id)

    def _on_commit(self, run_id: str) -> None:
        self.dispatcher.digests.mark_dirty(run_id)
        self.commits.notify(run_id)

    def _recover(self) -> Recovered:
        recovered = Recovery(self.home, self.registry, self._launcher).recover()
        self.problems += recovered.problems
        return recovered

    async def _run_maintenance(self) -> None:
        """Describe workers first, so that the first run starts quickly; then clean up regularly."""
        await run_in_long_thread(self._describe_workers)
        await run_in_long_thread(self._measure_earlier_runs)
        while True:
            await run_in_long_thread(self._remove_unused)
            await asyncio.sleep(_MAINTENANCE_INTERVAL_S)

    def _describe_workers(self) -> None:
        for worker in self.catalog.scan():
            if isinstance(worker, FoundWorker):
                with suppress(UserError):  # `mosaic workers` reports what is wrong with it
                    self.catalog.describe(worker.manifest.id)

    def _measure_earlier_runs(self) -> None:
        try:
            measure_unmeasured_runs(self.home, self.registry)
        except UserError as error:
            _log.warning("T160 the sizes of earlier runs could not be measured: %s", error)

    def _remove_unused(self) -> None:
        try:
            self.bundles.clean(self.registry.bundle_uses(), self.registry.code_uses())
        except UserError as error:
            _log.warning("T152 leftovers of bundles could not be removed: %s", error)
