"""Opens only regular files in a run's directory.

A worker can create anything there: opening a pipe would block, and a link would redirect reads and
writes to a file outside of the directory.
"""

import errno
import os
import stat
from pathlib import Path

_NOT_REGULAR = (errno.ELOOP, errno.ENXIO, errno.EISDIR)
"""Errors of `open` for a link, a pipe or socket, and a folder."""


class NotRegularFileError(OSError):
    """The path is not a regular file."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, f"{path.name} is not a regular file")

    def __str__(self) -> str:
        return str(self.strerror)


def open_regular(path: Path, flags: int, mode: int = 0o600) -> int:
    """Open the file without blocking and without following a link; returns its descriptor.

    Raises `NotRegularFileError` or any other `OSError`.
    """
    try:
        fd = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno in _NOT_REGULAR:
            raise NotRegularFileError(path) from error
        raise
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise NotRegularFileError(path)


def require_regular_database(path: Path) -> None:
    """Raise `NotRegularFileError` unless the database and its side files are regular or missing.

    SQLite opens them by name and follows links, so call this right before connecting.
    """
    for suffix in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + suffix)
        try:
            mode = file.lstat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise NotRegularFileError(file)
