"""Trainer: all parts of the daemon, put together; `mosaic.trainer.daemon` serves one."""

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
from mosaic.trainer.concurrency import in_long_thread, in_thread
from mosaic.trainer.machine.machine import Machine
from mosaic.trainer.preflight.preflight_report import Preflight
from mosaic.trainer.processes.launcher import LocalLauncher
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.commit_signals import REGISTRY, CommitSignals
from mosaic.trainer.runs.dispatcher import Dispatcher
from mosaic.trainer.runs.ingest_pool import IngestPool
from mosaic.trainer.runs.recovery import Recovered, Recovery
from mosaic.trainer.runs.run_parts import RunParts
from mosaic.trainer.secrets import Secrets
from mosaic.trainer.settings import DaemonSettings
from mosaic.trainer.storage.checkpoint_removal import CheckpointRemoval
from mosaic.trainer.storage.checkpoints import Checkpoints
from mosaic.trainer.storage.datasets import Datasets
from mosaic.trainer.storage.retention import Retention
from mosaic.trainer.storage.run_sizes import measure_unknown_runs
from mosaic.trainer.workers.description_cache import DescriptionCache
from mosaic.trainer.workers.folder_workers import CHECKOUT_WORKERS
from mosaic.trainer.workers.found_worker import FoundWorker
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

_log = logging.getLogger(__name__)

_HOUSEKEEPING_EVERY_S = 6 * 3600.0

CHECKOUT = Path(mosaic.__file__).parents[2]


class Trainer:
    """Made on the event loop. Its parts are safe from any thread."""

    def __init__(
        self, home: Home, settings: DaemonSettings, registry: RunRegistry, commits: CommitSignals
    ) -> None:
        self.home = home
        self.settings = settings
        self.registry = registry
        self.commits = commits
        self.started_at = time.time()
        self.problems: list[str] = [registry.set_aside_reason] if registry.set_aside else []
        """What a person should know; shown by `mosaic daemon status`."""
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
        self.retention = Retention(home, registry, settings)
        self.ingest = IngestPool(self._on_commit)
        self._launcher = LocalLauncher()
        parts = RunParts(
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
        self.dispatcher = Dispatcher(parts, self.problems)
        self._housekeeping: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, home: Home, settings: DaemonSettings) -> "Trainer":
        """Recovers first: when this returns, every run is in the queue, watched, or over."""
        for folder in (home.trainer, home.runs, home.configs, home.logs):
            await in_thread(folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        commits = CommitSignals()
        registry = await in_thread(
            RunRegistry, home.registry, on_change=lambda: commits.notify(REGISTRY)
        )
        trainer = cls(home, settings, registry, commits)
        recovered = await in_thread(trainer._recover)
        await in_thread(trainer.checkpoints.imported.clean)
        await trainer.dispatcher.start(recovered)
        trainer._housekeeping = asyncio.create_task(trainer._keep_house())
        return trainer

    async def close(self) -> None:
        """Runs keep running; the next daemon takes them up."""
        await self.dispatcher.close()
        await in_thread(self.ingest.close)
        if self._housekeeping is not None:
            self._housekeeping.cancel()
        await in_thread(self.registry.close)

    def digest(self, run_id: str) -> RunStats | None:
        """The newest numbers of a run that is under way."""
        return self.dispatcher.digest(run_id)

    def _on_commit(self, run_id: str) -> None:
        self.dispatcher.digests.note_commit(run_id)
        self.commits.notify(run_id)

    def _recover(self) -> Recovered:
        recovered = Recovery(self.home, self.registry, self._launcher).recover()
        self.problems += recovered.problems
        return recovered

    async def _keep_house(self) -> None:
        """Now, so that the first run starts quickly, and a few times a day."""
        await in_long_thread(self._describe_workers)
        await in_long_thread(self._measure_earlier_runs)
        while True:
            await in_long_thread(self._remove_unneeded)
            await asyncio.sleep(_HOUSEKEEPING_EVERY_S)

    def _describe_workers(self) -> None:
        for found in self.catalog.scan():
            if isinstance(found, FoundWorker):
                with suppress(UserError):  # `mosaic workers` tells what is wrong with it
                    self.catalog.describe(found.manifest.id)

    def _measure_earlier_runs(self) -> None:
        try:
            measure_unknown_runs(self.home, self.registry)
        except UserError as error:
            _log.warning("T160 what earlier runs take could not be found out: %s", error)

    def _remove_unneeded(self) -> None:
        try:
            self.bundles.clean(self.registry.bundle_uses(), self.registry.code_uses())
        except UserError as error:
            _log.warning("T152 leftovers of bundles could not be removed: %s", error)
