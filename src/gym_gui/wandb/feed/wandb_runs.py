"""What W&B has left in a run's folder, looked at on a thread while the run goes on."""

import shlex
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mosaic.analytics.wandb_log import NotAWandbFileError
from mosaic.analytics.wandb_runs import WandbContents, WandbFolder, WandbRecords, find_wandb_folders

__all__ = ["LocalRun", "WandbContents", "WandbFolder", "WandbPlaces", "watch_wandb"]

_LONGEST_S = 2.0
"""A large file is read on with the next look, so that something can be seen early."""


@dataclass(frozen=True, slots=True)
class WandbPlaces:
    """Where to look, and with what to upload."""

    folders: tuple[Path, ...]
    python: Path | None = None
    """The interpreter of the run's own bundle, which has W&B installed."""
    proxy: str = ""


@dataclass(frozen=True, slots=True)
class LocalRun:
    """One run of W&B on this disk."""

    folder: WandbFolder
    contents: WandbContents
    sync_command: str = ""
    problem: str = ""
    """Why its file cannot be read."""


def watch_wandb(places: WandbPlaces) -> Callable[[], tuple[LocalRun, ...] | None]:
    """For `FilePoller`: all runs, newest first; None while they are as they were."""
    readers: dict[Path, WandbRecords] = {}
    told: tuple[LocalRun, ...] | None = None

    def look() -> tuple[LocalRun, ...] | None:
        nonlocal told
        found = tuple(_read(each, readers, places) for each in find_wandb_folders(places.folders))
        if found == told:
            return None
        told = found
        return found

    return look


def _read(folder: WandbFolder, readers: dict[Path, WandbRecords], places: WandbPlaces) -> LocalRun:
    command = sync_command(folder.path, places.python, places.proxy)
    if folder.file is None:
        return LocalRun(folder, WandbContents(), command)
    reader = readers.setdefault(folder.file, WandbRecords(folder.file))
    try:
        deadline = time.monotonic() + _LONGEST_S
        while reader.read_more() and time.monotonic() < deadline:
            pass
    except (NotAWandbFileError, OSError) as error:
        return LocalRun(folder, reader.contents, command, problem=_words(error))
    return LocalRun(folder, reader.contents, command)


def _words(error: NotAWandbFileError | OSError) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'The file'} cannot be read: {error.strerror or error}."
    return f"{error.message} {error.remedy}"


def sync_command(folder: Path, python: Path | None, proxy: str) -> str:
    """What uploads the run, to be pasted into a terminal."""
    words = ["wandb"]
    if shutil.which("wandb") is None and python is not None and python.exists():
        words = [str(python), "-m", "wandb"]
    through = f"HTTPS_PROXY={shlex.quote(proxy)} " if proxy else ""
    return through + shlex.join([*words, "sync", str(folder)])
