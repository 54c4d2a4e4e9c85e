"""The files of a worker's code, and a hash of their content that is computed once per change.

Descriptions and code copies are keyed by this hash. A worker's own tests, caches and hidden files
are not part of its code.
"""

import hashlib
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mosaic.contract.errors import UserError
from mosaic.trainer.workers.found_worker import SourceTree

Stamp = tuple[int, int, int, int, int]


def stamp_of(status: os.stat_result) -> Stamp:
    """A value that changes whenever the file is replaced or written."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def file_stamp(path: Path | str) -> Stamp | None:
    """The stamp of the file at `path`; None when it does not exist."""
    try:
        return stamp_of(os.stat(path))  # noqa: PTH116 - entries of sys.path are text
    except OSError:
        return None


HASH_LENGTH = 12
_MAX_BYTES = 256 * 1024 * 1024
_SKIPPED_FOLDERS = frozenset({"__pycache__", "tests", "node_modules"})
_SKIPPED_ENDINGS = (".pyc", ".pyo")


class SourceFile(NamedTuple):
    """One file, by its name on the import path."""

    name: str
    path: str
    stamp: Stamp


class SourceDigests:
    """Hashes of source trees; files are read again only when one of them changes. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[tuple[SourceTree, ...], tuple[tuple[SourceFile, ...], str]] = {}
        self._lock = threading.Lock()

    def digest(self, trees: Sequence[SourceTree]) -> str:
        """The hash over names and contents of all files. Raises `UserError`."""
        key = tuple(trees)
        files = list_source_files(key)
        with self._lock:
            known = self._known.get(key)
        if known is not None and known[0] == files:
            return known[1]
        digest = _compute_hash(files)
        with self._lock:
            self._known[key] = (files, digest)
        return digest

    def forget(self, trees: Sequence[SourceTree]) -> None:
        """Remove the cached hash of trees that no longer exist."""
        with self._lock:
            self._known.pop(tuple(trees), None)


def list_source_files(trees: Sequence[SourceTree]) -> tuple[SourceFile, ...]:
    """All files of the code, sorted by name. Raises `UserError`."""
    try:
        files = sorted(file for tree in trees for file in _files_of(tree.name, tree.path, ()))
    except OSError as error:
        raise _unreadable(error) from error
    size = sum(file.stamp[2] for file in files)
    if size > _MAX_BYTES:
        largest = max(files, key=lambda file: file.stamp[2])
        raise UserError(
            f"The code of this worker has {size / 1e6:,.0f} MB, too much to copy for a run; "
            f"the largest file is {largest.path}.",
            remedy="Move data and models out of the worker's packages.",
            code="T328",
        )
    return tuple(files)


def _files_of(
    name: str, path: Path | str, above: tuple[tuple[int, int], ...]
) -> Iterator[SourceFile]:
    status = os.stat(path)  # noqa: PTH116 - a Path per file would cost more than the call
    if stat.S_ISREG(status.st_mode):
        yield SourceFile(name, os.fspath(path), stamp_of(status))
        return
    identity = (status.st_dev, status.st_ino)
    if not stat.S_ISDIR(status.st_mode) or identity in above:  # a link to a folder above it
        return
    with os.scandir(path) as entries:
        for entry in entries:
            if not _is_skipped(entry):
                yield from _files_of(f"{name}/{entry.name}", entry.path, (*above, identity))


def _is_skipped(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or entry.name.endswith(_SKIPPED_ENDINGS):
        return True
    if entry.is_dir():
        return entry.name in _SKIPPED_FOLDERS or entry.name.endswith(".egg-info")
    return entry.is_symlink() and not entry.is_file()  # a broken link


def _compute_hash(files: Sequence[SourceFile]) -> str:
    digest = hashlib.sha256()
    for file in files:
        try:
            content = Path(file.path).read_bytes()
        except OSError as error:
            raise _unreadable(error) from error
        digest.update(f"{file.name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:HASH_LENGTH]


def _unreadable(error: OSError) -> UserError:
    return UserError(
        f"A file of the worker's code cannot be read: {error.filename}: {error.strerror}.",
        remedy="Make it readable, or install the worker again.",
        code="T137",
    )
