"""Files that are sent to or received from the daemon in chunks that fit into a message.

Shared by the run API (exported runs) and the storage API (checkpoints).
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from mosaic.client.errors import ArchiveFileError

_CHUNK_BYTES = 256 << 10


def write_chunks(path: Path, chunks: Iterable[bytes]) -> int:
    """Write `path` from `chunks` and return its size in bytes.

    The file appears only when it is complete; on failure nothing is left behind.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
            size = file.tell()
        temporary.replace(path)
    except OSError as error:
        raise ArchiveFileError(
            f"{path} cannot be written: {error.strerror}.",
            remedy="Check the folder and the free disk space, or choose another file.",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return size


def check_readable(path: Path) -> None:
    """Raise `ArchiveFileError` unless `path` is a readable file."""
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise ArchiveFileError(
            f"{path} cannot be read: {error.strerror}.",
            remedy="Choose a file that was written by `mosaic runs export`.",
        ) from error


def read_chunks(path: Path) -> Iterator[bytes]:
    """Yield the content of the file in chunks."""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
