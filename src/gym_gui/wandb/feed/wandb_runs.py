"""W&B runs in the folder of a run, polled on a thread."""

import shlex
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mosaic.analytics.wandb_log import NotAWandbFileError
from mosaic.analytics.wandb_runs import WandbContents, WandbFolder, WandbRecords, find_wandb_folders

__all__ = ["LocalRun", "WandbContents", "WandbFolder", "WandbLocation", "watch_wandb"]

_MAX_READ_S = 2.0
"""A large file is continued in the next poll, so that first values appear early."""


@dataclass(frozen=True, slots=True)
class WandbLocation:
    """Folders to search, and the interpreter and proxy for uploads."""

    folders: tuple[Path, ...]
    python: Path | None = None
    """Interpreter of the run's bundle, which has W&B installed."""
    proxy: str = ""


@dataclass(frozen=True, slots=True)
class LocalRun:
    """A W&B run on this disk."""

    folder: WandbFolder
    contents: WandbContents
    sync_command: str = ""
    problem: str = ""
    """Why its file cannot be read."""


def watch_wandb(location: WandbLocation) -> Callable[[], tuple[LocalRun, ...] | None]:
    """A reader for `FilePoller`: all runs, newest first; None if nothing changed."""
    readers: dict[Path, WandbRecords] = {}
    published: tuple[LocalRun, ...] | None = None

    def poll() -> tuple[LocalRun, ...] | None:
        nonlocal published
        runs = tuple(
            _read(folder, readers, location) for folder in find_wandb_folders(location.folders)
        )
        if runs == published:
            return None
        published = runs
        return runs

    return poll


def _read(
    folder: WandbFolder, readers: dict[Path, WandbRecords], location: WandbLocation
) -> LocalRun:
    command = sync_command(folder.path, location.python, location.proxy)
    if folder.file is None:
        return LocalRun(folder, WandbContents(), command)
    reader = readers.setdefault(folder.file, WandbRecords(folder.file))
    try:
        deadline = time.monotonic() + _MAX_READ_S
        while reader.read_more() and time.monotonic() < deadline:
            pass
    except (NotAWandbFileError, OSError) as error:
        return LocalRun(folder, reader.contents, command, problem=_error_text(error))
    return LocalRun(folder, reader.contents, command)


def _error_text(error: NotAWandbFileError | OSError) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'The file'} cannot be read: {error.strerror or error}."
    return f"{error.message} {error.remedy}"


def sync_command(folder: Path, python: Path | None, proxy: str) -> str:
    """Shell command that uploads the run."""
    command = ["wandb"]
    if shutil.which("wandb") is None and python is not None and python.exists():
        command = [str(python), "-m", "wandb"]
    environment = f"HTTPS_PROXY={shlex.quote(proxy)} " if proxy else ""
    return environment + shlex.join([*command, "sync", str(folder)])
