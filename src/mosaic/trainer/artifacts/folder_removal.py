"""Removing a whole folder, however deep and whatever a worker has put into it."""

import os
import stat
from itertools import count
from pathlib import Path

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
