"""RunMetadata: what is to be known of a run beyond its row: how it was asked for, what it left.

Fetched and decoded on a thread, for `runtime.models.selected_run` and `live.model.live_model`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.manifest import ArtifactManifest, decode_manifest
from mosaic.contract.run_config import TelemetryConfig, TrainRunConfig, load_run_config
from mosaic.contract.runs import RunDetails

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_MINIMAL = TelemetryConfig(steps="sampled", frames=True)
"""Every tenth episode in full, the others as columns, and pictures: hardly felt by training."""


@dataclass(frozen=True, slots=True)
class RunMetadata:
    """All of one moment."""

    details: RunDetails
    config: TrainRunConfig
    resolved: dict[str, Any] | None
    """Every value as the worker resolved it; None until it has said so."""
    manifest: ArtifactManifest
    descriptor: WorkerDescriptor | None
    """None: the worker is no longer there, or cannot say what it is."""
    directory: Path
    event_types: frozenset[str] = frozenset()
    """The types of its recorded events."""

    @property
    def label(self) -> str:
        """What people call the worker."""
        return (self.descriptor.label if self.descriptor else "") or self.config.worker

    @property
    def is_silent(self) -> bool:
        """It reports no steps."""
        worker, config = self.descriptor, self.config
        return (
            worker is not None
            and worker.lane == "analytics"
            and worker.step_detail(config.mode, config.telemetry.steps) == "off"
        )

    @property
    def can_record_steps(self) -> bool:
        """The worker can report steps if the configuration enables them."""
        return self.descriptor is not None and self.descriptor.supports.minimal_telemetry

    @property
    def has_tensorboard(self) -> bool:
        return self.manifest.tensorboard_dir is not None

    @property
    def has_wandb(self) -> bool:
        return bool(self.manifest.wandb_url or self.manifest.wandb_offline_dirs)


def fetch_run_metadata(client: "TrainerClient", home: Home, run_id: str) -> RunMetadata:
    """Raises `UserError`."""
    details = client.run(run_id)
    config = load_run_config(details.config_json)
    try:
        descriptor: WorkerDescriptor | None = client.describe(config.worker)
    except UserError:  # it was uninstalled since
        descriptor = None
    return RunMetadata(
        details=details,
        config=config,
        resolved=json.loads(details.resolved_json) if details.resolved_json else None,
        manifest=decode_manifest(details.manifest_json or b"{}"),
        descriptor=descriptor,
        directory=home.run(run_id).path,
        event_types=_event_types(client, run_id),
    )


def _event_types(client: "TrainerClient", run_id: str) -> frozenset[str]:
    try:
        return frozenset(client.stats(run_id).types)
    except UserError:  # nothing is stored of it yet
        return frozenset()


def restart_with_telemetry(client: "TrainerClient", config: TrainRunConfig) -> str:
    """The same run once more, with minimal telemetry; its id."""
    return client.submit(msgspec.structs.replace(config, telemetry=_MINIMAL)).run_id
