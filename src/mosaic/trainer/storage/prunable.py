"""What may be removed of a finished run to free disk space, in order of removal.

Videos first, then all checkpoints except the newest, the last and the best, then the files of
TensorBoard and W&B. Nothing else: a worker may announce any file of its run as a video, so a path
is removed only if it is inside a folder of the run, is reached without a link, and contains nothing
that is protected. Hard links to one file count once, and free its space when the last is removed.
"""

import os
import posixpath
import stat
from collections import Counter
from collections.abc import Collection, Iterator
from enum import IntEnum
from typing import NamedTuple

from mosaic.contract.layout import RunDirectory
from mosaic.contract.manifest import ArtifactFile, ArtifactManifest
from mosaic.trainer.artifacts.artifact_meta import sidecars_of
from mosaic.trainer.artifacts.run_tree import RunTree
from mosaic.trainer.storage.paging import artifact_id

_EVENT_FILES = "events.out.tfevents."
_PROTECTED_NAMES = ("best", "last")
"""Names that workers give to checkpoints worth keeping."""


class PruneOrder(IntEnum):
    """The order of removal."""

    VIDEO = 0
    CHECKPOINT = 1
    LOG = 2


class Prunable(NamedTuple):
    """A file or folder that may be removed. `path` is relative to the run's directory."""

    run_id: str
    ended_at: float
    order: PruneOrder
    path: str
    size_bytes: int


def prunable_of(
    run: RunDirectory, ended_at: float, manifest: ArtifactManifest, in_use: Collection[str]
) -> Iterator[Prunable]:
    """`in_use`: ids of checkpoints that other runs need."""
    scan = _RunScan(run, manifest, in_use)
    for order, paths in (
        (PruneOrder.VIDEO, scan.videos()),
        (PruneOrder.CHECKPOINT, scan.checkpoints()),
        (PruneOrder.LOG, scan.logs()),
    ):
        for path in paths:
            size = scan.size(path)
            if size is not None:
                yield Prunable(run.run_id, ended_at, order, path, size)


def own_sidecars(path: str, manifest: ArtifactManifest) -> list[str]:
    """The metadata files of `path` that no other artifact uses."""
    others = {
        sidecar
        for file in (*manifest.videos, *manifest.checkpoints, *manifest.datasets, *manifest.reports)
        if file.path != path
        for sidecar in sidecars_of(file.path)
    }
    return [sidecar for sidecar in sidecars_of(path) if sidecar not in others]


class _RunScan:
    def __init__(
        self, run: RunDirectory, manifest: ArtifactManifest, in_use: Collection[str]
    ) -> None:
        self._run = run
        self._root = os.path.realpath(run.path)
        self._tree = RunTree(run)
        self._manifest = manifest
        self._listed = [file.path for file in (*manifest.videos, *manifest.checkpoints)]
        newest = max(manifest.checkpoints, key=_by_time, default=None)
        self._protected = [file.path for file in (*manifest.datasets, *manifest.reports)]
        self._protected += [manifest.optuna_db_path] if manifest.optuna_db_path else []
        self._protected += [
            file.path
            for file in manifest.checkpoints
            if file is newest
            or posixpath.basename(file.path).partition(".")[0] in _PROTECTED_NAMES
            or artifact_id(run.run_id, file.path) in in_use
        ]
        self._protected_files = {
            file
            for file in (self._linked_file(path) for path in self._protected)
            if file is not None
        }
        self._links_seen: Counter[tuple[int, int]] = Counter()

    def videos(self) -> Iterator[str]:
        return (file.path for file in self._manifest.videos if self._is_removable(file.path))

    def checkpoints(self) -> Iterator[str]:
        oldest_first = sorted(self._manifest.checkpoints, key=_by_time)
        return (file.path for file in oldest_first if self._is_removable(file.path))

    def logs(self) -> Iterator[str]:
        tensorboard = self._manifest.tensorboard_dir
        own = self._run.tensorboard.name
        if tensorboard is not None:
            is_own = tensorboard == own or tensorboard.startswith(f"{own}/")
            if is_own and not _contains_any(own, [*self._listed, *self._protected]):
                yield own
            else:  # the folder has other files too, such as CleanRL's models
                for file in self._tree.walk(tensorboard):
                    if posixpath.basename(file.path).startswith(_EVENT_FILES):
                        yield file.path
        folders = {self._run.wandb.name, *self._manifest.wandb_offline_dirs}
        for folder in sorted(folders):
            within_other = any(folder.startswith(f"{other}/") for other in folders)
            if not within_other and not _contains_any(folder, [*self._listed, *self._protected]):
                yield folder

    def size(self, path: str) -> int | None:
        """The bytes freed; None if it is missing, a link, or a hard link to a protected file."""
        parent, full = posixpath.dirname(path), self._tree.full(path)
        try:
            if os.path.realpath(self._tree.full(parent)) != os.path.normpath(
                self._tree.full(parent)
            ):
                return None
            status = os.lstat(full)
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(status.st_mode):
            return self._tree.total(path).size_bytes
        if not stat.S_ISREG(status.st_mode):
            return None
        return status.st_size if status.st_nlink == 1 else self._size_of_link(status)

    def _size_of_link(self, status: os.stat_result) -> int | None:
        """Of a file with several hard links: the last one that is removed frees the space."""
        file = (status.st_dev, status.st_ino)
        if file in self._protected_files:
            return None
        self._links_seen[file] += 1
        return status.st_size if self._links_seen[file] == status.st_nlink else 0

    def _linked_file(self, path: str) -> tuple[int, int] | None:
        """The identity of a file with several hard links; None for any other."""
        try:
            status = os.lstat(self._tree.full(path))
        except (OSError, ValueError):
            return None
        is_linked = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
        return (status.st_dev, status.st_ino) if is_linked else None

    def _is_removable(self, path: str) -> bool:
        """Files at the top of the run's directory are its records and are not removed."""
        return "/" in posixpath.normpath(path) and not _contains_any(path, self._protected)


def _contains_any(folder: str, paths: Collection[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for path in paths)


def _by_time(file: ArtifactFile) -> tuple[float, str]:
    return file.t, file.path
