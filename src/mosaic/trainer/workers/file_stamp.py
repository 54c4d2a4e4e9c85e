"""Telling whether a file is still the one that was read, without reading it."""

import os
from pathlib import Path

Stamp = tuple[int, int, int, int, int]


def stamp_of(status: os.stat_result) -> Stamp:
    """Differs whenever the file was replaced or written to."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def file_stamp(path: Path | str) -> Stamp | None:
    """Of what `path` leads to; None when there is nothing."""
    try:
        return stamp_of(os.stat(path))  # noqa: PTH116 - entries of sys.path are text
    except OSError:
        return None
