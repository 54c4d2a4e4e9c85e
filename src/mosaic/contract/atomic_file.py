"""Atomic file replacement: a reader sees the previous content or the complete new one."""

import os
import tempfile
from pathlib import Path

from mosaic.contract.errors import UserError


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
        _sync_folder(path.parent)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror}.",
            remedy="Check that its folder exists, is writable and has free space.",
        ) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
