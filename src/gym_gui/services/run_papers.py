"""RunPapers: what a live view has to know of a run beyond its row: how it tells, what it left.

Asked for once per run, on a thread.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.manifest import decode_manifest
from mosaic.contract.run_config import TelemetryConfig, TrainRunConfig, load_run_config

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_MINIMAL = TelemetryConfig(steps="sampled", frames=True)
"""Every tenth episode in full, the others as columns, and pictures: hardly felt by training."""


@dataclass(frozen=True, slots=True)
class RunPapers:
    """One run's configuration and descriptor, and where its artifacts are."""

    config: TrainRunConfig
    label: str
    """What people call the worker."""
    is_silent: bool
    """It tells nothing of its steps."""
    can_tell: bool
    """The worker could tell of them, if the configuration asked for it."""
    tensorboard: Path | None = None
    wandb_url: str = ""


def fetch_papers(client: "TrainerClient", home: Home, run_id: str) -> RunPapers:
    """Raises `UserError`."""
    details = client.run(run_id)
    config = load_run_config(details.config_json)
    try:
        worker: WorkerDescriptor | None = client.describe(config.worker)
    except UserError:  # it was uninstalled since
        worker = None
    manifest = decode_manifest(details.manifest_json or b"{}")
    folder = manifest.tensorboard_dir
    return RunPapers(
        config=config,
        label=(worker.label if worker else "") or config.worker,
        is_silent=worker is not None
        and worker.lane == "analytics"
        and worker.step_detail(config.mode, config.telemetry.steps) == "off",
        can_tell=worker is not None and worker.supports.minimal_telemetry,
        tensorboard=home.run(run_id).path / folder if folder else None,
        wandb_url=manifest.wandb_url or "",
    )


def start_again_telling(client: "TrainerClient", config: TrainRunConfig) -> str:
    """The same run once more, with minimal telemetry; its id."""
    return client.submit(msgspec.structs.replace(config, telemetry=_MINIMAL)).run_id
