"""RunTree: the files in a run's directory, as far as they may be shown. The artifact scan walks it.

A scan is repeated every few seconds while a worker writes: one look at a file costs one `lstat`,
what vanishes meanwhile is passed over, and the whole scan ends after a fixed number of entries.
"""

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.text_types import PathInside


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


_log = logging.getLogger(__name__)

MAX_ENTRIES = 200_000
"""Looked at in one scan; a worker that makes more files than that does not slow the daemon down."""
_MAX_DEPTH = 24
_TEMPORARY_ENDINGS = (".tmp", ".part", ".partial", ".swp", "~")


class ScannedFile(NamedTuple):
    """A file, or a folder as a whole. `path` is relative to the run's directory."""

    path: str
    size_bytes: int
    t: float
    is_folder: bool = False


class Listing(NamedTuple):
    """What one folder holds, both by path."""

    files: list[ScannedFile]
    folders: list[str]


class RunTree:
    """One scan's view of the directory. Links to files inside it are kept, all others refused."""

    def __init__(self, run: RunDirectory) -> None:
        self._root = os.path.realpath(run.path)
        self._entries_left = MAX_ENTRIES

    def listing(self, folder: str) -> Listing:
        """The ordinary files and the folders in `folder`; nothing where it is none."""
        listing = Listing([], [])
        if not self.is_folder(folder):
            return listing
        prefix = "" if folder == "." else f"{folder}/"
        try:
            with os.scandir(self.full(folder)) as entries:
                for entry in entries:
                    if self._entries_left == 0:
                        break
                    self._entries_left -= 1
                    self._take(entry, f"{prefix}{entry.name}", listing)
        except OSError:
            pass  # gone, or no folder any more
        return listing

    def walk(self, folder: str, depth: int = 0) -> Iterator[ScannedFile]:
        """All files below `folder`; links to folders are not followed."""
        files, folders = self.listing(folder)
        yield from files
        if depth < _MAX_DEPTH:
            for inner in folders:
                yield from self.walk(inner, depth + 1)

    def find(self, path: str) -> ScannedFile | None:
        """The ordinary file at `path`, links inside the run's directory followed."""
        found = self._stat(path)
        return _as_found(path, found) if found and stat.S_ISREG(found.st_mode) else None

    def is_folder(self, path: str) -> bool:
        """Whether a folder lies at `path`, reached without a link."""
        full = self.full(path)
        try:
            return os.path.realpath(full) == os.path.normpath(full) and stat.S_ISDIR(
                os.lstat(full).st_mode
            )
        except (OSError, ValueError):
            return False

    def total(self, folder: str) -> ScannedFile:
        """The folder as one artifact: all of its bytes, and its last change."""
        found = self._stat(folder)
        size, newest = 0, found.st_mtime if found else 0.0
        for file in self.walk(folder):
            size += file.size_bytes
            newest = max(newest, file.t)
        return ScannedFile(folder, size, max(0.0, newest), is_folder=True)

    def full(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _take(self, entry: os.DirEntry[str], path: str, listing: Listing) -> None:
        try:
            if entry.is_symlink():
                found = self.find(path)
                if found:
                    listing.files.append(found)
            elif entry.is_dir(follow_symlinks=False):
                listing.folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                listing.files.append(_as_found(path, entry.stat(follow_symlinks=False)))
        except OSError:
            return  # vanished since it was listed

    def _stat(self, path: str) -> os.stat_result | None:
        full = self.full(path)
        try:
            os.lstat(full)  # most often it is simply not there, which is cheap to learn
            real = os.path.realpath(full)
            if not is_within(self._root, real):
                _log.debug("T361 %s leads out of the run's directory and is not listed", full)
                return None
            return os.lstat(real)
        except (OSError, ValueError):
            return None


def is_temporary(path: str) -> bool:
    """Whether the name says that the file is still being written."""
    name = path.rpartition("/")[2]
    return name.startswith(".") or name.endswith(_TEMPORARY_ENDINGS)


def is_valid_path(path: str) -> bool:
    """Whether a manifest can hold the path: text without control characters, and not too long."""
    try:
        path.encode()
        msgspec.convert(path, PathInside)
    except (UnicodeEncodeError, msgspec.ValidationError):
        return False
    return True


def _as_found(path: str, found: os.stat_result) -> ScannedFile:
    return ScannedFile(path, found.st_size, max(0.0, found.st_mtime))
