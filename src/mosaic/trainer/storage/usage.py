"""StorageUsage: the disk usage of a home by kind of file, and of single runs."""

import os
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from mosaic.contract.layout import Home, RunDirectory
from mosaic.trainer.registry.run_registry import RunRegistry

KINDS = ("telemetry", "videos", "checkpoints", "tensorboard", "wandb", "other", "bundles")
_CACHE_S = 60.0
_DATABASE_SUFFIXES = ("", "-wal", "-shm")


class Usage(NamedTuple):
    """Bytes by kind (one of `KINDS`), at a point in time."""

    by_kind: dict[str, int]
    measured_at: float

    @property
    def limited_bytes(self) -> int:
        """The bytes that limits apply to: all but bundles, which belong to no run."""
        return sum(self.by_kind.values()) - self.by_kind["bundles"]


class StorageUsage:
    """Measures one home. Blocking; safe from any thread. Concurrent callers share one result."""

    def __init__(self, home: Home, clock: Callable[[], float] = time.time) -> None:
        self._home = home
        self._clock = clock
        self._lock = threading.Lock()
        self._latest: Usage | None = None

    def latest(self) -> Usage:
        """The usage, at most a minute old."""
        with self._lock:
            latest = self._latest
            if latest is None or not 0 <= self._clock() - latest.measured_at < _CACHE_S:
                latest = self._latest = self._measure()
            return latest

    def invalidate(self) -> None:
        """Discard the cached result, after a large change."""
        with self._lock:
            self._latest = None

    def _measure(self) -> Usage:
        home, sizes_by_kind = self._home, dict.fromkeys(KINDS, 0)
        excluded = {
            home.checkpoints: "checkpoints",
            home.venvs: "bundles",
            home.worker_code: "bundles",
        }
        sizes = _Sizes()
        for path, kind in excluded.items():
            sizes_by_kind[kind] += sizes.below(path)
        for run in _children(home.runs):
            for entry in _children(run):
                sizes_by_kind[_kind_in_run(RunDirectory(run), entry)] += sizes.of(entry)
        sizes_by_kind["other"] += sizes.below(home.path, {*excluded, home.runs})
        return Usage(sizes_by_kind, self._clock())


def size_of_run(run: RunDirectory) -> int:
    """The size of all files in its directory. Blocking."""
    return _Sizes().below(run.path)


def _kind_in_run(run: RunDirectory, path: Path) -> str:
    folders = {
        run.videos: "videos",
        run.checkpoints: "checkpoints",
        run.tensorboard: "tensorboard",
        run.wandb: "wandb",
    }
    telemetry = {run.spool, run.rejects} | {Path(f"{run.store}{end}") for end in _DATABASE_SUFFIXES}
    return folders.get(path) or ("telemetry" if path in telemetry else "other")


class _Sizes:
    """A file with several hard links counts once."""

    def __init__(self) -> None:
        self._counted: set[tuple[int, int]] = set()

    def of(self, path: Path) -> int:
        try:
            is_folder = path.is_dir() and not path.is_symlink()
            return self.below(path) if is_folder else self._of_file(path.lstat())
        except OSError:
            return 0  # removed in the meantime

    def below(self, folder: Path, excluded: Collection[Path] = ()) -> int:
        """The size of all files in it, except in folders of `excluded`. Follows no link."""
        total, folders = 0, [folder]
        while folders:
            try:
                with os.scandir(folders.pop()) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            if not excluded or Path(entry.path) not in excluded:
                                folders.append(Path(entry.path))
                        else:
                            total += self._of_file(entry.stat(follow_symlinks=False))
            except OSError:
                continue  # removed in the meantime, or not readable
        return total

    def _of_file(self, status: os.stat_result) -> int:
        if status.st_nlink > 1:
            file = (status.st_dev, status.st_ino)
            if file in self._counted:
                return 0
            self._counted.add(file)
        return status.st_size


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries]
    except OSError:
        return []


_BATCH_SIZE = 100


def measure_unmeasured_runs(home: Home, registry: RunRegistry) -> None:
    """Measure finished runs without a recorded size, the newest first. Blocking.

    Called once after the daemon has started, for runs of earlier versions.
    """
    unknown = registry.unmeasured_run_ids()
    for start in range(0, len(unknown), _BATCH_SIZE):
        batch = unknown[start : start + _BATCH_SIZE]
        registry.set_disk_bytes({run_id: size_of_run(home.run(run_id)) for run_id in batch})
