"""The artifacts of a run by kind: size, time, action, or the reason why there is none.

Plain functions; the *Artifacts* tab shows the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gym_gui.run_page.feed.run_overview import RunOverview
from gym_gui.runtime.models import run_tabs
from mosaic.contract.manifest import ArtifactFile, ArtifactManifest
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.runs import RunRecord

ArtifactKind = Literal[
    "tensorboard", "wandb", "videos", "checkpoints", "optuna", "datasets", "reports"
]
MAX_FILES = 100
"""Listed individually; the folder has all of them."""


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """One kind of artifact. It exists if `reason` is empty."""

    kind: ArtifactKind
    title: str
    description: str
    size_bytes: int | None
    t: float | None
    reason: str
    """Why there is none, and how to get it."""
    path: str = ""
    """Relative to the run folder; empty if there is none."""
    action: str = ""
    """Label of its button; empty for no button."""
    files: tuple[ArtifactFile, ...] = ()
    """Newest first, at most `MAX_FILES` of them."""
    not_listed: int = 0


def rows_of(
    run: RunRecord | None,
    config: TrainRunConfig | None,
    manifest: ArtifactManifest,
    overview: RunOverview,
) -> list[ArtifactRow]:
    """Always all kinds, in the same order."""
    reasons = run_tabs.empty_reasons(run, config, manifest)
    is_finished = run is not None and run.state.is_final
    return [
        _tensorboard(manifest, overview, reasons["tensorboard"]),
        _wandb(manifest, overview, reasons["wandb"]),
        _files("videos", "Videos", manifest.videos, _no_videos(config, is_finished)),
        _files(
            "checkpoints", "Checkpoints", manifest.checkpoints, _no_checkpoints(config, is_finished)
        ),
        _optuna(manifest, overview, reasons["optuna"]),
        _files("datasets", "Data sets", manifest.datasets, "This run wrote no data set."),
        _files("reports", "Reports", manifest.reports, "This run wrote no report."),
    ]


def _tensorboard(manifest: ArtifactManifest, overview: RunOverview, reason: str) -> ArtifactRow:
    path = manifest.tensorboard_dir or ""
    usage = overview.folders.get(path)
    return ArtifactRow(
        kind="tensorboard",
        title="TensorBoard",
        description=_count(usage.files, "event file") if usage else ("event files" if path else ""),
        size_bytes=usage.size_bytes if usage else None,
        t=usage.t if usage else None,
        reason="" if path else reason,
        path=path,
        action="Open TensorBoard",
    )


def _wandb(manifest: ArtifactManifest, overview: RunOverview, reason: str) -> ArtifactRow:
    folders = manifest.wandb_offline_dirs
    usages = [usage for path in folders if (usage := overview.folders.get(path))]
    exists = bool(manifest.wandb_url or manifest.wandb_run_id or folders)
    description = manifest.wandb_run_id or (_count(len(folders), "offline run") if folders else "")
    return ArtifactRow(
        kind="wandb",
        title="Weights & Biases",
        description=description or ("online" if manifest.wandb_url else ""),
        size_bytes=sum(usage.size_bytes for usage in usages) if usages else None,
        t=max((usage.t for usage in usages), default=None),
        reason="" if exists else reason or "Nothing tracked yet.",
        path=folders[-1] if folders else "",
        action="Open W&B",
    )


def _optuna(manifest: ArtifactManifest, overview: RunOverview, reason: str) -> ArtifactRow:
    path = manifest.optuna_db_path or ""
    usage = overview.folders.get(path)
    return ArtifactRow(
        kind="optuna",
        title="Optuna",
        description="study" if path else "",
        size_bytes=usage.size_bytes if usage else None,
        t=usage.t if usage else None,
        reason="" if path else reason,
        path=path,
        action="Show trials",
    )


def _files(
    kind: ArtifactKind, title: str, files: Sequence[ArtifactFile], reason: str
) -> ArtifactRow:
    newest_first = sorted(files, key=lambda file: file.t, reverse=True)
    more = sum(int(file.meta.get("not_listed") or 0) for file in files)
    noun = {"videos": "video", "datasets": "data set", "reports": "report"}.get(kind, "checkpoint")
    folders = {file.path.rpartition("/")[0] for file in files}
    return ArtifactRow(
        kind=kind,
        title=title,
        description=_count(len(files) + more, noun) if files else "",
        size_bytes=sum(file.size_bytes for file in files) if files else None,
        t=newest_first[0].t if files else None,
        reason="" if files else reason,
        path=min(folders, key=len) if folders else "",
        action="Show checkpoints" if kind == "checkpoints" else "",
        files=() if kind == "checkpoints" else tuple(newest_first[:MAX_FILES]),
        not_listed=max(0, len(files) - MAX_FILES) + more,
    )


def _no_videos(config: TrainRunConfig | None, is_finished: bool) -> str:
    if config is None or not config.artifacts.video.enabled:
        return (
            "Videos are off: switch them on in the training form, or export an episode from Replay."
        )
    if is_finished:
        return "No video was written: too few episodes, or the environment renders no frames."
    return f"One video every {config.artifacts.video.every_episodes:,} episodes; none yet."


def _no_checkpoints(config: TrainRunConfig | None, is_finished: bool) -> str:
    if config is not None and config.mode != "train":
        return "Only training writes checkpoints."
    if is_finished:
        return "The run ended before its first checkpoint. Set a checkpoint interval in steps."
    every = config.artifacts.checkpoints.every_steps if config else 0
    return (
        f"One checkpoint every {every:,} steps; none yet."
        if every
        else "One checkpoint at the end."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
