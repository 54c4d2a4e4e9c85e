"""Opening only ordinary files in a run's directory, for everything that ingest reads and writes.

A worker can put anything there: a pipe would hold up whoever opens it, and a link would lead reads
and writes out of the directory.
"""

import errno
import os
import stat
from pathlib import Path

_OF_OTHER_KINDS = (errno.ELOOP, errno.ENXIO, errno.EISDIR)
"""What opening says of a link, a pipe or socket, and a folder."""


class NotOrdinaryError(OSError):
    """Something else than an ordinary file has the name of one."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, f"{path.name} is a link, a pipe or a folder, not a file")

    def __str__(self) -> str:
        return str(self.strerror)


def open_ordinary(path: Path, flags: int, mode: int = 0o600) -> int:
    """A descriptor of the file, never waited for and never reached through a link.

    Raises `NotOrdinaryError`, and any other `OSError` as it is.
    """
    try:
        fd = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno in _OF_OTHER_KINDS:
            raise NotOrdinaryError(path) from error
        raise
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise NotOrdinaryError(path)


def expect_ordinary_database(path: Path) -> None:
    """Raises `NotOrdinaryError` unless the database and its side files are ordinary or absent.

    SQLite opens them by name and follows links, so this is asked right before.
    """
    for ending in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + ending)
        try:
            mode = file.lstat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise NotOrdinaryError(file)
