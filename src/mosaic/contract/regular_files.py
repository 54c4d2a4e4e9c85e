"""Opens only regular files in a run's directory.

A worker can create anything there: opening a pipe would block, a link would redirect reads and
writes to a file outside of the directory, and a device or a huge file would fill the memory.
Code of the daemon that opens a file by a path which a worker can write uses this module.
"""

import errno
import os
import stat
from pathlib import Path

_NOT_REGULAR = (errno.ELOOP, errno.ENXIO, errno.EISDIR)
"""Errors of `open` for a link, a pipe or socket, and a folder."""


class NotRegularFileError(OSError):
    """The path is not a regular file."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.EINVAL, f"{Path(path).name} is not a regular file")

    def __str__(self) -> str:
        return str(self.strerror)


def open_regular(
    path: str | Path,
    flags: int = os.O_RDONLY,
    mode: int = 0o600,
    *,
    dir_fd: int | None = None,
    follow_links: bool = False,
) -> int:
    """Open the file without blocking; returns its descriptor.

    A link is followed only on request, as for a path that a user chose.
    Raises `NotRegularFileError` or any other `OSError`.
    """
    flags |= os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | (0 if follow_links else os.O_NOFOLLOW)
    try:
        fd = os.open(path, flags, mode, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in _NOT_REGULAR:
            raise NotRegularFileError(path) from error
        raise
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise NotRegularFileError(path)


def read_regular(path: str | Path, max_bytes: int) -> bytes:
    """Read a complete file of at most `max_bytes`.

    Raises `NotRegularFileError` or any other `OSError`.
    """
    with open(open_regular(path), "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(f"{Path(path).name} is larger than {max_bytes} bytes")
    return data


def regular_size(path: Path) -> int:
    """The size of a regular file; 0 for anything else."""
    try:
        status = path.lstat()
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


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
