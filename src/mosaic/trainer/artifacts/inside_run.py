"""Paths inside a run's directory, for everything that reads what a worker left there.

A worker is not trusted: a link may lead out, a FIFO may block, a name may change under our hands.
"""

import os
import stat
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory


def inside(run: RunDirectory, relative: str) -> Path:
    """The real path of `relative` in the run's directory, which need not exist.

    Raises `UserError` when it leads out of the directory, by its name or through a link.
    """
    root = os.path.realpath(run.path)
    if "\0" not in relative:
        real = os.path.realpath(os.path.join(root, relative))  # noqa: PTH118 - links are resolved
        if is_within(root, real):
            return Path(real)
    raise UserError(
        f"{relative!r} leads out of the directory of run {run.run_id}.",
        remedy="Name a file of the run by its path relative to the run's directory.",
        code="T360",
    )


def is_within(root: str, real: str) -> bool:
    """Whether `real` is `root` or lies below it; both are real paths."""
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


def open_regular(path: str | Path, dir_fd: int | None = None) -> int:
    """A descriptor for reading an ordinary file; never waits, never follows a last link.

    Raises `OSError` when there is no such file, or what is there is none.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, dir_fd=dir_fd)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(f"{path} is not an ordinary file")
