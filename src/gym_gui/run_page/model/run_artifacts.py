"""What a run has left behind, by kind: how much, how new, what can be done with it, or why not.

Plain functions; the page's *Artifacts* shows the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gym_gui.run_page.feed.run_facts import RunFacts
from gym_gui.runtime.models import run_tabs
from mosaic.contract.manifest import ArtifactFile, ArtifactManifest
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.runs import RunRecord

ArtifactKind = Literal[
    "tensorboard", "wandb", "videos", "checkpoints", "optuna", "datasets", "reports"
]
MOST_FILES = 100
"""Listed one by one; the folder has them all."""


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """One kind. Without a reason it is there."""

    kind: ArtifactKind
    title: str
    what: str
    size_bytes: int | None
    t: float | None
    reason: str
    """Why there is none, and how to get it."""
    path: str = ""
    """Where it is, inside of the run's folder; empty: nowhere."""
    action: str = ""
    """What its button says; empty: it has none."""
    files: tuple[ArtifactFile, ...] = ()
    """Newest first, at most `MOST_FILES` of them."""
    not_listed: int = 0


def rows_of(
    run: RunRecord | None,
    config: TrainRunConfig | None,
    manifest: ArtifactManifest,
    facts: RunFacts,
) -> list[ArtifactRow]:
    """Always all kinds, in the same order."""
    reasons = run_tabs.reasons(run, config, manifest)
    is_over = run is not None and run.state.is_final
    return [
        _tensorboard(manifest, facts, reasons["tensorboard"]),
        _wandb(manifest, facts, reasons["wandb"]),
        _files("videos", "Videos", manifest.videos, _no_videos(config, is_over)),
        _files(
            "checkpoints", "Checkpoints", manifest.checkpoints, _no_checkpoints(config, is_over)
        ),
        _optuna(manifest, facts, reasons["optuna"]),
        _files("datasets", "Data sets", manifest.datasets, "It has written no data set."),
        _files("reports", "Reports", manifest.reports, "It has written no report."),
    ]


def _tensorboard(manifest: ArtifactManifest, facts: RunFacts, reason: str) -> ArtifactRow:
    path = manifest.tensorboard_dir or ""
    use = facts.folders.get(path)
    return ArtifactRow(
        kind="tensorboard",
        title="TensorBoard",
        what=_count(use.files, "event file") if use else ("event files" if path else ""),
        size_bytes=use.size_bytes if use else None,
        t=use.t if use else None,
        reason="" if path else reason,
        path=path,
        action="Open TensorBoard",
    )


def _wandb(manifest: ArtifactManifest, facts: RunFacts, reason: str) -> ArtifactRow:
    folders = manifest.wandb_offline_dirs
    uses = [use for path in folders if (use := facts.folders.get(path))]
    is_there = bool(manifest.wandb_url or manifest.wandb_run_id or folders)
    what = manifest.wandb_run_id or (_count(len(folders), "offline run") if folders else "")
    return ArtifactRow(
        kind="wandb",
        title="Weights & Biases",
        what=what or ("online" if manifest.wandb_url else ""),
        size_bytes=sum(use.size_bytes for use in uses) if uses else None,
        t=max((use.t for use in uses), default=None),
        reason="" if is_there else reason or "Nothing has been tracked yet.",
        path=folders[-1] if folders else "",
        action="Open W&B",
    )


def _optuna(manifest: ArtifactManifest, facts: RunFacts, reason: str) -> ArtifactRow:
    path = manifest.optuna_db_path or ""
    use = facts.folders.get(path)
    return ArtifactRow(
        kind="optuna",
        title="Optuna",
        what="study" if path else "",
        size_bytes=use.size_bytes if use else None,
        t=use.t if use else None,
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
        what=_count(len(files) + more, noun) if files else "",
        size_bytes=sum(file.size_bytes for file in files) if files else None,
        t=newest_first[0].t if files else None,
        reason="" if files else reason,
        path=min(folders, key=len) if folders else "",
        action="Show checkpoints" if kind == "checkpoints" else "",
        files=() if kind == "checkpoints" else tuple(newest_first[:MOST_FILES]),
        not_listed=max(0, len(files) - MOST_FILES) + more,
    )


def _no_videos(config: TrainRunConfig | None, is_over: bool) -> str:
    if config is None or not config.artifacts.video.enabled:
        return "Videos are off: switch them on in the form, or export an episode from Replay."
    if is_over:
        return "None was written: too few episodes, or the environment draws no pictures."
    return f"One of every {config.artifacts.video.every_episodes:,} episodes; none is there yet."


def _no_checkpoints(config: TrainRunConfig | None, is_over: bool) -> str:
    if config is not None and config.mode != "train":
        return "Only training writes checkpoints."
    if is_over:
        return "It ended before one was written: let it save every so many steps."
    every = config.artifacts.checkpoints.every_steps if config else 0
    return f"One every {every:,} steps; none is there yet." if every else "One comes at the end."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
