"""What the page of a run shows beyond its papers: best episode, checkpoints, sizes of folders.

Fetched on a thread for `RunPageModel`, together, and again when there is news.
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
    "FolderUse",
    "RunFacts",
    "RunMetadata",
    "copy_out",
    "fetch_facts",
    "fetch_run_metadata",
    "write_out",
]

_MOST_FILES = 20_000
_MOST_CHECKPOINTS = 2_000
_NOT_WRITTEN = "C396"
"""A file of a run could not be copied or written."""


@dataclass(frozen=True, slots=True)
class FolderUse:
    """A file, or all files of a folder."""

    size_bytes: int
    t: float
    """Of the newest one."""
    files: int


@dataclass(frozen=True, slots=True)
class RunFacts:
    """All of one moment."""

    best: EpisodeRollup | None = None
    checkpoints: tuple[CheckpointRecord, ...] = ()
    """Newest first."""
    folders: dict[str, FolderUse] = field(default_factory=dict)
    """Those that the manifest names, by their paths inside of the run's folder."""


def fetch_facts(
    client: "TrainerClient", home: Home, run_id: str, manifest: ArtifactManifest
) -> RunFacts:
    """Raises `UserError`. Waits."""
    page = client.episodes_page(run_id, count=1, order="return", descending=True, ended="over")
    checkpoints: list[CheckpointRecord] = []
    if manifest.checkpoints:
        for checkpoint in client.checkpoints(run_id=run_id):
            checkpoints.append(checkpoint)
            if len(checkpoints) == _MOST_CHECKPOINTS:
                break
    directory = home.run(run_id).path
    named = (manifest.tensorboard_dir, manifest.optuna_db_path, *manifest.wandb_offline_dirs)
    folders = {path: _use_of(directory / path) for path in named if path}
    return RunFacts(
        best=page.episodes[0] if page.episodes else None,
        checkpoints=tuple(checkpoints),
        folders={path: use for path, use in folders.items() if use is not None},
    )


def copy_out(source: Path, folder: Path, stem: str) -> Path:
    """A copy of a file or folder in `folder`, under a name that is not taken. Waits."""
    target = free_target(folder, stem, source.suffix.lstrip(".") or "copy")
    try:
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
    except OSError as error:
        _remove_part(target)
        raise UserError(
            f"{source.name} cannot be copied: {_reason_of(error)}.",
            remedy="It may have been removed meanwhile; or make room in the home's exports.",
            code=_NOT_WRITTEN,
        ) from error
    return target


def write_out(text: str, folder: Path, stem: str, suffix: str) -> Path:
    """A text file in `folder`, under a name that is not taken. Waits."""
    target = free_target(folder, stem, suffix)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        _remove_part(target)
        raise UserError(
            f"{target.name} cannot be written: {error.strerror or error}.",
            remedy="Free some disk space, or change the folder's rights.",
            code=_NOT_WRITTEN,
        ) from error
    return target


def _remove_part(target: Path) -> None:
    """What was written before the disk was full would be taken for all of it."""
    with suppress(OSError):
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)


def _reason_of(error: OSError) -> str:
    """A folder's copy collects what happened to each file; the first says enough."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return str(error.args[0][0][-1])
    return error.strerror or str(error)


def _use_of(path: Path) -> FolderUse | None:
    size = files = 0
    newest = 0.0
    for found in _stats(path):
        size += found.st_size
        newest = max(newest, found.st_mtime)
        files += 1
        if files == _MOST_FILES:
            break
    return FolderUse(size, newest, files) if files else None


def _stats(path: Path) -> Iterator[os.stat_result]:
    """Links are not followed: they lead to what is not the run's."""
    try:
        if not path.is_dir():
            yield path.lstat()
            return
        for folder, _, names in os.walk(path):
            for name in names:
                yield os.lstat(os.path.join(folder, name))  # noqa: PTH118 - many files
    except OSError:
        return
