"""StorageUsage: what the home takes, by kind of file, and what one run takes.

Retention asks for the first, the watch of a run for the second.
"""

import os
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from mosaic.contract.layout import Home, RunDirectory
from mosaic.trainer.registry.run_registry import RunRegistry

KINDS = ("telemetry", "videos", "checkpoints", "tensorboard", "wandb", "other", "bundles")
_KEPT_S = 60.0
_OF_DATABASES = ("", "-wal", "-shm")


class Usage(NamedTuple):
    """Bytes by kind, each of `KINDS`, as they were at a moment."""

    by_kind: dict[str, int]
    measured_at: float

    @property
    def limited_bytes(self) -> int:
        """What a limit applies to: bundles are no run's, and are removed in other ways."""
        return sum(self.by_kind.values()) - self.by_kind["bundles"]


class StorageUsage:
    """Of one home. Blocking; safe from any thread. One looks at a time, and all share it."""

    def __init__(self, home: Home, clock: Callable[[], float] = time.time) -> None:
        self._home = home
        self._clock = clock
        self._lock = threading.Lock()
        self._latest: Usage | None = None

    def latest(self) -> Usage:
        """Not older than a minute."""
        with self._lock:
            latest = self._latest
            if latest is None or not 0 <= self._clock() - latest.measured_at < _KEPT_S:
                latest = self._latest = self._measure()
            return latest

    def forget(self) -> None:
        """Much has changed: look again when next asked."""
        with self._lock:
            self._latest = None

    def _measure(self) -> Usage:
        home, found = self._home, dict.fromkeys(KINDS, 0)
        apart = {
            home.checkpoints: "checkpoints",
            home.venvs: "bundles",
            home.worker_code: "bundles",
        }
        sizes = _Sizes()
        for path, kind in apart.items():
            found[kind] += sizes.below(path)
        for run in _children(home.runs):
            for entry in _children(run):
                found[_kind_in_run(RunDirectory(run), entry)] += sizes.of(entry)
        found["other"] += sizes.below(home.path, {*apart, home.runs})
        return Usage(found, self._clock())


def size_of_run(run: RunDirectory) -> int:
    """Of all files in its directory. Blocking."""
    return _Sizes().below(run.path)


def _kind_in_run(run: RunDirectory, path: Path) -> str:
    folders = {
        run.videos: "videos",
        run.checkpoints: "checkpoints",
        run.tensorboard: "tensorboard",
        run.wandb: "wandb",
    }
    telemetry = {run.spool, run.rejects} | {Path(f"{run.store}{end}") for end in _OF_DATABASES}
    return folders.get(path) or ("telemetry" if path in telemetry else "other")


class _Sizes:
    """A file with several names counts once, at the first that is found."""

    def __init__(self) -> None:
        self._counted: set[tuple[int, int]] = set()

    def of(self, path: Path) -> int:
        try:
            is_folder = path.is_dir() and not path.is_symlink()
            return self.below(path) if is_folder else self._of_file(path.lstat())
        except OSError:
            return 0  # gone meanwhile

    def below(self, folder: Path, apart: Collection[Path] = ()) -> int:
        """Of all files in it but those in folders that are counted apart. Follows no link."""
        total, waiting = 0, [folder]
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            if not apart or Path(entry.path) not in apart:
                                waiting.append(Path(entry.path))
                        else:
                            total += self._of_file(entry.stat(follow_symlinks=False))
            except OSError:
                continue  # gone meanwhile, or not ours to read
        return total

    def _of_file(self, found: os.stat_result) -> int:
        if found.st_nlink > 1:
            file = (found.st_dev, found.st_ino)
            if file in self._counted:
                return 0
            self._counted.add(file)
        return found.st_size


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries]
    except OSError:
        return []


_AT_ONCE = 100


def measure_unknown_runs(home: Home, registry: RunRegistry) -> None:
    """The newest first: those are at the top of every list. Blocking."""
    unknown = registry.of_unknown_size()
    for start in range(0, len(unknown), _AT_ONCE):
        some = unknown[start : start + _AT_ONCE]
        registry.set_disk_bytes({run_id: size_of_run(home.run(run_id)) for run_id in some})
