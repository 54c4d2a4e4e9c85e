"""Overview data of a run beyond its metadata: best episode, checkpoints, folder sizes.

`RunPageModel` fetches it on a thread, and again when the run changes.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.run_metadata import RunMetadata, fetch_run_metadata
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.manifest import ArtifactManifest
from mosaic.contract.storage import CheckpointRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = [
    "FolderUsage",
    "RunMetadata",
    "RunOverview",
    "copy_to_folder",
    "fetch_run_metadata",
    "fetch_run_overview",
    "write_to_folder",
]

_MAX_FILES = 20_000
_MAX_CHECKPOINTS = 2_000
_NOT_WRITTEN = "C396"
"""A file of a run could not be copied or written."""


@dataclass(frozen=True, slots=True)
class FolderUsage:
    """A file, or all files of a folder."""

    size_bytes: int
    t: float
    """Modification time of the newest file."""
    files: int


@dataclass(frozen=True, slots=True)
class RunOverview:
    """A snapshot, fetched in one task."""

    best: EpisodeRollup | None = None
    checkpoints: tuple[CheckpointRecord, ...] = ()
    """Newest first."""
    folders: dict[str, FolderUsage] = field(default_factory=dict)
    """Folders named in the manifest, by path relative to the run folder."""


def fetch_run_overview(
    client: "TrainerClient", home: Home, run_id: str, manifest: ArtifactManifest
) -> RunOverview:
    """Blocks. Raises `UserError`."""
    page = client.episodes_page(run_id, count=1, order="return", descending=True, ended="over")
    checkpoints: list[CheckpointRecord] = []
    if manifest.checkpoints:
        for checkpoint in client.checkpoints(run_id=run_id):
            checkpoints.append(checkpoint)
            if len(checkpoints) == _MAX_CHECKPOINTS:
                break
    directory = home.run(run_id).path
    named = (manifest.tensorboard_dir, manifest.optuna_db_path, *manifest.wandb_offline_dirs)
    folders = {path: _usage_of(directory / path) for path in named if path}
    return RunOverview(
        best=page.episodes[0] if page.episodes else None,
        checkpoints=tuple(checkpoints),
        folders={path: usage for path, usage in folders.items() if usage is not None},
    )


def copy_to_folder(source: Path, folder: Path, stem: str) -> Path:
    """Copy a file or folder into `folder` under an unused name. Blocks."""
    target = free_target(folder, stem, source.suffix.lstrip(".") or "copy")
    try:
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
    except OSError as error:
        _remove_partial(target)
        raise UserError(
            f"{source.name} cannot be copied: {_reason_of(error)}.",
            remedy="Check that it still exists, and free disk space for the exports folder.",
            code=_NOT_WRITTEN,
        ) from error
    return target


def write_to_folder(text: str, folder: Path, stem: str, suffix: str) -> Path:
    """Write a text file into `folder` under an unused name. Blocks."""
    target = free_target(folder, stem, suffix)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        _remove_partial(target)
        raise UserError(
            f"{target.name} cannot be written: {error.strerror or error}.",
            remedy="Free some disk space, or change the folder's permissions.",
            code=_NOT_WRITTEN,
        ) from error
    return target


def _remove_partial(target: Path) -> None:
    """A partial file could be mistaken for a complete one."""
    with suppress(OSError):
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)


def _reason_of(error: OSError) -> str:
    """`shutil.copytree` collects one error per file; the first is enough."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return str(error.args[0][0][-1])
    return error.strerror or str(error)


def _usage_of(path: Path) -> FolderUsage | None:
    size = files = 0
    newest = 0.0
    for stat in _stats(path):
        size += stat.st_size
        newest = max(newest, stat.st_mtime)
        files += 1
        if files == _MAX_FILES:
            break
    return FolderUsage(size, newest, files) if files else None


def _stats(path: Path) -> Iterator[os.stat_result]:
    """Links are not followed: their targets do not belong to the run."""
    try:
        if not path.is_dir():
            yield path.lstat()
            return
        for folder, _, names in os.walk(path):
            for name in names:
                yield os.lstat(os.path.join(folder, name))  # noqa: PTH118 - many files
    except OSError:
        return
