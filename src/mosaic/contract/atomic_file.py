"""Atomic file replacement: a reader sees the previous content or the complete new one."""

import os
import tempfile
from pathlib import Path

from mosaic.contract.errors import UserError

_MAX_SYNCED_FILES = 500


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the content of `path` by `data`, durably: a crash never leaves a partial file.

    Raises `UserError` when the file cannot be written.
    """
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror}.",
            remedy="Check that its folder exists, is writable and has free space.",
        ) from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    _sync(folder)


def sync_tree(folder: Path) -> None:
    """Make all files and folders in `folder` durable. Links are not followed."""
    folders: list[Path] = []
    files: list[Path] = []
    for parent, _, names in os.walk(folder):
        folders.append(Path(parent))
        files += [Path(parent, name) for name in names]
    if len(files) > _MAX_SYNCED_FILES:
        os.sync()  # one flush of everything is faster than many of one file
        return
    for file in files:
        _sync(file)
    for inner in reversed(folders):
        _sync(inner)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
