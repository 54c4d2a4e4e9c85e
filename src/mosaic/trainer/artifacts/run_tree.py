"""RunTree: the files in a run's directory, and opening them safely.

A worker is not trusted: a link may lead out of the directory, a FIFO may block, a file may be
replaced at any time. A scan is repeated every few seconds while a worker writes: each file costs
one `lstat`, missing files are skipped, and a scan ends after a fixed number of entries.
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


def resolve_inside(run: RunDirectory, relative: str) -> Path:
    """The real path of `relative` in the run's directory; it need not exist.

    Raises `UserError` when it is outside of the directory, by its name or through a link.
    """
    root = os.path.realpath(run.path)
    if "\0" not in relative:
        real = os.path.realpath(os.path.join(root, relative))  # noqa: PTH118 - links are resolved
        if is_within(root, real):
            return Path(real)
    raise UserError(
        f"{relative!r} is outside of the directory of run {run.run_id}.",
        remedy="Use a path relative to the run's directory.",
        code="T360",
    )


def is_within(root: str, real: str) -> bool:
    """Whether `real` is `root` or below it; both are real paths."""
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


_log = logging.getLogger(__name__)

MAX_ENTRIES = 200_000
"""Limit of one scan, so that a worker with more files does not slow down the daemon."""
MAX_DEPTH = 24
"""Folders below this depth are ignored: resolving a path of thousands of folders takes seconds."""
_TEMPORARY_ENDINGS = (".tmp", ".part", ".partial", ".swp", "~")


class ScannedFile(NamedTuple):
    """A file, or a folder that is one artifact. `path` is relative to the run's directory."""

    path: str
    size_bytes: int
    t: float
    is_folder: bool = False


class Listing(NamedTuple):
    """The content of one folder, by path."""

    files: list[ScannedFile]
    folders: list[str]


class RunTree:
    """The directory during one scan. Links to files inside it are followed, all others ignored."""

    def __init__(self, run: RunDirectory) -> None:
        self._root = os.path.realpath(run.path)
        self._entries_left = MAX_ENTRIES

    def listing(self, folder: str) -> Listing:
        """The regular files and the folders in `folder`; empty if it is not a folder."""
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
                    self._add_entry(entry, f"{prefix}{entry.name}", listing)
        except OSError:
            pass  # removed or replaced
        return listing

    def walk(self, folder: str) -> Iterator[ScannedFile]:
        """All files below `folder`; links to folders are not followed."""
        files, folders = self.listing(folder)
        yield from files
        for inner in folders:
            yield from self.walk(inner)

    def find(self, path: str) -> ScannedFile | None:
        """The regular file at `path`; links inside the run's directory are followed."""
        status = self._stat(path)
        return _to_scanned_file(path, status) if status and stat.S_ISREG(status.st_mode) else None

    def is_folder(self, path: str) -> bool:
        """Whether `path` is a folder, reached without a link."""
        if path.count("/") >= MAX_DEPTH:
            return False
        full = self.full(path)
        try:
            return os.path.realpath(full) == os.path.normpath(full) and stat.S_ISDIR(
                os.lstat(full).st_mode
            )
        except (OSError, ValueError):
            return False

    def total(self, folder: str) -> ScannedFile:
        """The folder as one artifact: its total size, and its last change."""
        status = self._stat(folder)
        size, newest = 0, status.st_mtime if status else 0.0
        for file in self.walk(folder):
            size += file.size_bytes
            newest = max(newest, file.t)
        return ScannedFile(folder, size, max(0.0, newest), is_folder=True)

    def full(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _add_entry(self, entry: os.DirEntry[str], path: str, listing: Listing) -> None:
        try:
            if entry.is_symlink():
                status = self.find(path)
                if status:
                    listing.files.append(status)
            elif entry.is_dir(follow_symlinks=False):
                listing.folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                listing.files.append(_to_scanned_file(path, entry.stat(follow_symlinks=False)))
        except OSError:
            return  # removed since it was listed

    def _stat(self, path: str) -> os.stat_result | None:
        if path.count("/") >= MAX_DEPTH:
            return None
        full = self.full(path)
        try:
            os.lstat(full)  # a cheap check: most often it does not exist
            real = os.path.realpath(full)
            if not is_within(self._root, real):
                _log.debug("T361 %s is outside of the run's directory and is not listed", full)
                return None
            return os.lstat(real)
        except (OSError, ValueError):
            return None


def is_temporary(path: str) -> bool:
    """Whether the name is that of a file that is still being written."""
    name = path.rpartition("/")[2]
    return name.startswith(".") or name.endswith(_TEMPORARY_ENDINGS)


def is_valid_path(path: str) -> bool:
    """Whether a manifest can contain the path: no control characters, and not too long."""
    try:
        path.encode()
        msgspec.convert(path, PathInside)
    except (UnicodeEncodeError, msgspec.ValidationError):
        return False
    return True


def _to_scanned_file(path: str, status: os.stat_result) -> ScannedFile:
    return ScannedFile(path, status.st_size, max(0.0, status.st_mtime))
