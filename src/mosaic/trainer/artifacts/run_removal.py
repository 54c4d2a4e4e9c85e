"""Deleting runs, and removing the leftovers of interrupted operations.

A run is renamed first: from then on it does not exist, and a daemon that is killed leaves a folder
whose name identifies it as a leftover.
"""

import logging
import os
import stat
from itertools import count
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid
from mosaic.contract.layout import Home

_BLOCK_BYTES = 512  # the unit of st_blocks on any disk


def remove_folder(folder: Path) -> int:
    """Remove a folder with its content; returns the bytes freed. Never follows a link.

    Subfolders are moved up before they are emptied: neither the depth of a tree nor the length of
    its paths matters. After an interruption it can be called again. Raises `OSError`.
    """
    freed = _unlink_files(folder)
    names = count()
    while subfolders := _folders(folder):
        for inner in subfolders:
            freed += _unlink_files(inner)
            for child in _folders(inner):
                _make_writable(child)  # moving a folder changes it too
                candidates = (folder / f"{number}" for number in names)
                child.rename(next(path for path in candidates if not path.exists()))
            inner.rmdir()
    folder.rmdir()
    return freed


def _folders(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]


def _unlink_files(folder: Path) -> int:
    _make_writable(folder)
    freed = 0
    with os.scandir(folder) as entries:
        files = [entry for entry in entries if not entry.is_dir(follow_symlinks=False)]
    for entry in files:
        status = entry.stat(follow_symlinks=False)
        Path(entry.path).unlink(missing_ok=True)
        freed += status.st_blocks * _BLOCK_BYTES if status.st_nlink == 1 else 0
    return freed


def _make_writable(folder: Path) -> None:
    """A worker may have removed the permissions of its own folders."""
    mode = folder.lstat().st_mode
    if not stat.S_ISDIR(mode):
        raise NotADirectoryError(f"{folder} is not a folder")
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        folder.chmod(stat.S_IRWXU)


_log = logging.getLogger(__name__)

DELETING = ".deleting-"
IMPORTING = ".importing-"
EXPORTING = ".exporting-"


def delete_run(home: Home, run_id: str) -> int:
    """Remove the run's directory and the copy of its configuration; returns the bytes freed.

    No process of the run may be alive. A run without a directory frees nothing.
    """
    directory = home.run(run_id).path
    leftover = home.runs / f"{DELETING}{run_id}"
    try:
        freed = _finish(home, leftover) if leftover.exists() else 0
        if directory.is_symlink():
            directory.unlink()
        elif directory.exists():
            directory.rename(leftover)
        return freed + _finish(home, leftover)
    except OSError as error:
        raise UserError(
            f"Run {run_id} cannot be deleted completely: {error}.",
            remedy="Check that its folder belongs to you and is on a writable disk, and try again.",
            code="T367",
        ) from error


def clean_leftovers(home: Home) -> int:
    """Remove the leftovers of deletions, imports, exports and starts; returns the bytes freed.

    Only at the start of a daemon, when no such operation is running.
    """
    freed = 0
    if not home.runs.is_dir():
        return freed
    for folder in sorted(home.runs.iterdir()):
        if folder.name.startswith((DELETING, IMPORTING, EXPORTING)):
            try:
                freed += _finish(home, folder)
            except OSError as error:
                _log.warning("T368 the leftover %s cannot be removed: %s", folder, error)
    return freed + _clean_supervisors(home)


def _clean_supervisors(home: Home) -> int:
    """Remove the records of runs whose directories were removed by hand."""
    freed = 0
    for folder in home.supervisors.iterdir() if home.supervisors.is_dir() else ():
        if not (home.runs / folder.name).exists():
            try:
                freed += _remove_if_folder(folder)
            except OSError as error:
                _log.warning("T368 the leftover %s cannot be removed: %s", folder, error)
    return freed


def _finish(home: Home, folder: Path) -> int:
    run_id = folder.name.removeprefix(DELETING)
    freed = 0
    if is_ulid(run_id):
        home.config_copy(run_id).unlink(missing_ok=True)
        freed = _remove_if_folder(home.run(run_id).supervisor_folder)
    return freed + _remove_if_folder(folder)


def _remove_if_folder(path: Path) -> int:
    return remove_folder(path) if path.is_dir() and not path.is_symlink() else 0
