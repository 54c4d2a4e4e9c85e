"""The services that a run's controller uses, created once by `mosaic.trainer.trainer`."""

from dataclasses import dataclass

from mosaic.contract.layout import Home
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.machine.machine import Machine
from mosaic.trainer.processes.launcher import RunLauncher
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.commit_signals import CommitSignals
from mosaic.trainer.runs.ingest_pool import IngestPool
from mosaic.trainer.secrets import Secrets
from mosaic.trainer.storage.checkpoints import Checkpoints
from mosaic.trainer.workers.worker_catalog import WorkerCatalog


@dataclass(frozen=True, slots=True)
class RunServices:
    """All of them are safe from any thread; signals are received on the event loop."""

    home: Home
    settings: DaemonSettings
    registry: RunRegistry
    catalog: WorkerCatalog
    bundles: BundleStore
    machine: Machine
    secrets: Secrets
    checkpoints: Checkpoints
    launcher: RunLauncher
    ingest: IngestPool
    commits: CommitSignals
