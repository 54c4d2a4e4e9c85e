"""What of a run that is over may be removed to free room, in the order in which it goes.

Videos first, then all checkpoints but the newest, the last and the best, then the files of
TensorBoard and W&B. Nothing else ever: a worker may announce any file of its run as a video, so a
path counts only when it lies in a folder of the run, is reached without a link, and holds nothing
that is kept. Several names of one file take its room once, and free it when the last of them goes.
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
_KEPT_CHECKPOINTS = ("best", "last")
"""What workers call the ones that people come back for."""


class Turn(IntEnum):
    """What goes first."""

    VIDEO = 0
    CHECKPOINT = 1
    LOG = 2


class Prunable(NamedTuple):
    """One thing that may go. `path` is relative to the run's directory."""

    run_id: str
    ended_at: float
    turn: Turn
    path: str
    size_bytes: int


def prunable_of(
    run: RunDirectory, ended_at: float, manifest: ArtifactManifest, in_use: Collection[str]
) -> Iterator[Prunable]:
    """`in_use` has the ids of checkpoints that other runs need."""
    look = _Look(run, manifest, in_use)
    for turn, paths in (
        (Turn.VIDEO, look.videos()),
        (Turn.CHECKPOINT, look.checkpoints()),
        (Turn.LOG, look.logs()),
    ):
        for path in paths:
            size = look.size(path)
            if size is not None:
                yield Prunable(run.run_id, ended_at, turn, path, size)


def sidecars_alone(path: str, manifest: ArtifactManifest) -> list[str]:
    """The metadata files of `path` that belong to no other artifact."""
    others = {
        sidecar
        for file in (*manifest.videos, *manifest.checkpoints, *manifest.datasets, *manifest.reports)
        if file.path != path
        for sidecar in sidecars_of(file.path)
    }
    return [sidecar for sidecar in sidecars_of(path) if sidecar not in others]


class _Look:
    def __init__(
        self, run: RunDirectory, manifest: ArtifactManifest, in_use: Collection[str]
    ) -> None:
        self._run = run
        self._root = os.path.realpath(run.path)
        self._tree = RunTree(run)
        self._manifest = manifest
        self._listed = [file.path for file in (*manifest.videos, *manifest.checkpoints)]
        newest = max(manifest.checkpoints, key=_age, default=None)
        self._kept = [file.path for file in (*manifest.datasets, *manifest.reports)]
        self._kept += [manifest.optuna_db_path] if manifest.optuna_db_path else []
        self._kept += [
            file.path
            for file in manifest.checkpoints
            if file is newest
            or posixpath.basename(file.path).partition(".")[0] in _KEPT_CHECKPOINTS
            or artifact_id(run.run_id, file.path) in in_use
        ]
        self._kept_files = {
            file for file in (self._linked_file(path) for path in self._kept) if file is not None
        }
        self._names_seen: Counter[tuple[int, int]] = Counter()

    def videos(self) -> Iterator[str]:
        return (file.path for file in self._manifest.videos if self._is_free(file.path))

    def checkpoints(self) -> Iterator[str]:
        oldest_first = sorted(self._manifest.checkpoints, key=_age)
        return (file.path for file in oldest_first if self._is_free(file.path))

    def logs(self) -> Iterator[str]:
        tensorboard = self._manifest.tensorboard_dir
        own = self._run.tensorboard.name
        if tensorboard is not None:
            is_own = tensorboard == own or tensorboard.startswith(f"{own}/")
            if is_own and not _holds(own, [*self._listed, *self._kept]):
                yield own
            else:  # among other things, such as CleanRL's models
                for file in self._tree.walk(tensorboard):
                    if posixpath.basename(file.path).startswith(_EVENT_FILES):
                        yield file.path
        places = {self._run.wandb.name, *self._manifest.wandb_offline_dirs}
        for place in sorted(places):
            within_other = any(place.startswith(f"{other}/") for other in places)
            if not within_other and not _holds(place, [*self._listed, *self._kept]):
                yield place

    def size(self, path: str) -> int | None:
        """What goes with it; None when it is gone, is a link, or only a name of what is kept."""
        parent, full = posixpath.dirname(path), self._tree.full(path)
        try:
            if os.path.realpath(self._tree.full(parent)) != os.path.normpath(
                self._tree.full(parent)
            ):
                return None
            found = os.lstat(full)
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(found.st_mode):
            return self._tree.total(path).size_bytes
        if not stat.S_ISREG(found.st_mode):
            return None
        return found.st_size if found.st_nlink == 1 else self._size_of_name(found)

    def _size_of_name(self, found: os.stat_result) -> int | None:
        """Of a file with several: the last one that goes takes the room with it."""
        file = (found.st_dev, found.st_ino)
        if file in self._kept_files:
            return None
        self._names_seen[file] += 1
        return found.st_size if self._names_seen[file] == found.st_nlink else 0

    def _linked_file(self, path: str) -> tuple[int, int] | None:
        """Which file it is, of one that has other names too."""
        try:
            found = os.lstat(self._tree.full(path))
        except (OSError, ValueError):
            return None
        is_linked = stat.S_ISREG(found.st_mode) and found.st_nlink > 1
        return (found.st_dev, found.st_ino) if is_linked else None

    def _is_free(self, path: str) -> bool:
        """Files right in the run's directory are its records, whatever a worker calls them."""
        return "/" in posixpath.normpath(path) and not _holds(path, self._kept)


def _holds(folder: str, paths: Collection[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for path in paths)


def _age(file: ArtifactFile) -> tuple[float, str]:
    return file.t, file.path
