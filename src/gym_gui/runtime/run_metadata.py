"""Details of one run, fetched from the daemon: metadata, recent returns and video files.

All `fetch_` functions block and raise `UserError`.
"""

import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.manifest import ArtifactManifest, ManifestError, decode_manifest
from mosaic.contract.run_config import TelemetryConfig, TrainRunConfig, load_run_config
from mosaic.contract.runs import RunDetails

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

MAX_RECENT_RETURNS = 48
_EPISODES_PER_POINT = 10
_MIN_POINTS = 8
_PLAYABLE = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".gif")
_MINIMAL_TELEMETRY = TelemetryConfig(steps="sampled", frames=True)
"""Every tenth episode in full, the others as columns, and frames: little overhead."""


@dataclass(frozen=True, slots=True)
class RunMetadata:
    """A consistent snapshot."""

    details: RunDetails
    config: TrainRunConfig
    resolved: dict[str, Any] | None
    """Every value as the worker resolved it; None until the worker has reported it."""
    manifest: ArtifactManifest
    descriptor: WorkerDescriptor | None
    """None: the worker is not installed, or its description failed."""
    directory: Path
    event_types: frozenset[str] = frozenset()
    """The types of its recorded events."""

    @property
    def label(self) -> str:
        """The display name of the worker."""
        return (self.descriptor.label if self.descriptor else "") or self.config.worker

    @property
    def reports_no_steps(self) -> bool:
        worker, config = self.descriptor, self.config
        return (
            worker is not None
            and worker.lane == "analytics"
            and worker.step_detail(config.mode, config.telemetry.steps) == "off"
        )

    @property
    def can_record_steps(self) -> bool:
        """The worker can report steps if the configuration enables them.

        False for an imported run that names code, which is not run without consent.
        """
        return (
            self.descriptor is not None
            and self.descriptor.supports.minimal_telemetry
            and not self.names_imported_code
        )

    @property
    def names_imported_code(self) -> bool:
        """The run was imported, and its configuration names code, which is left out."""
        return bool(json.loads(self.details.withheld_json))

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
    except UserError:  # it has been uninstalled
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
    except UserError:  # nothing is stored yet
        return frozenset()


def restart_with_telemetry(client: "TrainerClient", config: TrainRunConfig) -> str:
    """Submit the run again with minimal telemetry; return the new id. Blocking."""
    return client.submit(msgspec.structs.replace(config, telemetry=_MINIMAL_TELEMETRY)).run_id


def fetch_recent_returns(client: "TrainerClient", run_id: str) -> tuple[float, ...]:
    """Mean returns of groups of finished episodes, oldest first."""
    page = client.episodes_page(
        run_id, count=MAX_RECENT_RETURNS * _EPISODES_PER_POINT, descending=True
    )
    finished = (episode for episode in reversed(page.episodes) if episode.is_over)
    returns = [episode.total_return for episode in finished]
    size = max(1, min(_EPISODES_PER_POINT, len(returns) // _MIN_POINTS))
    starts = range(0, len(returns), size)
    groups = (returns[start : start + size] for start in starts)
    return tuple(sum(group) / len(group) for group in groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoFile:
    """A video in the manifest of a run; the file may have been deleted."""

    path: Path
    title: str
    size_bytes: int
    t: float
    meta: dict[str, Any]
    """Metadata from its writer: episode, step, return."""


def videos_of(details: RunDetails, home: Home | None) -> tuple[VideoFile, ...]:
    """The videos in the manifest, newest last; none if the daemon's home is on another machine."""
    if home is None:
        return ()
    try:
        manifest = decode_manifest(details.manifest_json)
    except ManifestError:
        return ()
    folder = home.run(details.run.run_id).path
    listed = (file for file in manifest.videos if file.path.lower().endswith(_PLAYABLE))
    return tuple(
        VideoFile(
            path=folder / file.path,
            title=PurePosixPath(file.path).stem.replace("rl-video-", "").replace("-", " "),
            size_bytes=file.size_bytes,
            t=file.t,
            meta=file.meta,
        )
        for file in sorted(listed, key=lambda file: file.t)
    )


def fetch_videos(client: "TrainerClient", run_id: str) -> tuple[VideoFile, ...]:
    return videos_of(client.run(run_id), client.home)
