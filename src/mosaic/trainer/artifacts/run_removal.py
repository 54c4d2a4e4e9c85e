"""Deleting runs, and clearing away what was cut off.

A run that is to go is renamed first: from then on it does not exist, and whoever is killed in the
middle leaves a folder whose name says what to do with it.
"""

import logging
import os
import stat
from itertools import count
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid
from mosaic.contract.layout import Home

_BLOCK_BYTES = 512  # the unit of st_blocks, whatever the disk's own is


def remove_folder(folder: Path) -> int:
    """Remove it with all it holds; the bytes that this freed. Never follows a link.

    Folders within are moved up before they are emptied: neither the depth of a tree nor the length
    of its paths matters. Cut off at any moment, it can be called again. Raises `OSError`.
    """
    freed = _unlink_files(folder)
    names = count()
    while within := _folders(folder):
        for inner in within:
            freed += _unlink_files(inner)
            for deeper in _folders(inner):
                _make_writable(deeper)  # moving a folder changes it too
                free = (folder / f"{number}" for number in names)
                deeper.rename(next(path for path in free if not path.exists()))
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
        found = entry.stat(follow_symlinks=False)
        Path(entry.path).unlink(missing_ok=True)
        freed += found.st_blocks * _BLOCK_BYTES if found.st_nlink == 1 else 0
    return freed


def _make_writable(folder: Path) -> None:
    """A worker may have closed its own folders."""
    mode = folder.lstat().st_mode
    if not stat.S_ISDIR(mode):
        raise NotADirectoryError(f"{folder} is no folder")
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        folder.chmod(stat.S_IRWXU)


_log = logging.getLogger(__name__)

DELETING = ".deleting-"
IMPORTING = ".importing-"
EXPORTING = ".exporting-"


def delete_run(home: Home, run_id: str) -> int:
    """Remove the run's directory and the copy of its configuration; the bytes that this freed.

    Nothing of the run may be running. A run without a directory frees nothing.
    """
    directory = home.run(run_id).path
    doomed = home.runs / f"{DELETING}{run_id}"
    try:
        freed = _finish(home, doomed) if doomed.exists() else 0
        if directory.is_symlink():
            directory.unlink()
        elif directory.exists():
            directory.rename(doomed)
        return freed + _finish(home, doomed)
    except OSError as error:
        raise UserError(
            f"Run {run_id} cannot be deleted completely: {error}.",
            remedy="Check that its folder belongs to you and is on a writable disk, and try again.",
            code="T367",
        ) from error


def clean_leftovers(home: Home) -> int:
    """Finish what was cut off: deletions, imports, exports. The bytes that this freed.

    For the start of a daemon, when nothing of the kind can be under way.
    """
    freed = 0
    if not home.runs.is_dir():
        return freed
    for folder in sorted(home.runs.iterdir()):
        if folder.name.startswith((DELETING, IMPORTING, EXPORTING)):
            try:
                freed += _finish(home, folder)
            except OSError as error:
                _log.warning("T368 %s, which was cut off, cannot be removed: %s", folder, error)
    return freed


def _finish(home: Home, folder: Path) -> int:
    run_id = folder.name.removeprefix(DELETING)
    if is_ulid(run_id):
        home.config_copy(run_id).unlink(missing_ok=True)
    return remove_folder(folder) if folder.is_dir() and not folder.is_symlink() else 0
