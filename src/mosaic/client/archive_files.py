"""Archives of runs on this side: whole files or none, in parts that fit a message."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from mosaic.client.errors import ArchiveFileError

_PART_BYTES = 256 << 10


def write_parts(path: Path, parts: Iterable[bytes]) -> int:
    """Write `path` from `parts`; it appears when it is complete. Returns its size in bytes."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            for part in parts:
                file.write(part)
            size = file.tell()
        unfinished.replace(path)
    except OSError as error:
        raise ArchiveFileError(
            f"{path} cannot be written: {error.strerror}.",
            remedy="Check the folder and the space on the disk, or name another file.",
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return size


def check_readable(path: Path) -> None:
    """Raises `ArchiveFileError` when `path` is no file that can be read."""
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise ArchiveFileError(
            f"{path} cannot be read: {error.strerror}.",
            remedy="Name a file that was made with `mosaic runs export`.",
        ) from error


def read_parts(path: Path) -> Iterator[bytes]:
    """The content of the file."""
    with path.open("rb") as file:
        while part := file.read(_PART_BYTES):
            yield part
