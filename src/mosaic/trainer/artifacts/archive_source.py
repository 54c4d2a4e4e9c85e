"""The files of a run's directory that go into an archive, read safely while the run is live."""

import logging
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from mosaic.contract.layout import RunDirectory
from mosaic.contract.regular_files import (
    NotRegularFileError,
    open_regular,
    require_regular_database,
)
from mosaic.trainer.artifacts.archive_format import (
    MAX_DEPTH,
    MAX_MEMBERS,
    MIN_FREE_BYTES,
    PART_BYTES,
    ArchiveError,
    NoRoomError,
    is_excluded,
    is_packable,
)
from mosaic.trainer.artifacts.run_removal import EXPORTING, remove_folder

_log = logging.getLogger(__name__)

_DATABASES = (".db", ".sqlite", ".sqlite3")
_SQLITE_MAGIC = b"SQLite format 3\0"
_BUSY_TIMEOUT_S = 5.0


class PackedFile(NamedTuple):
    """A file, and how many of its bytes are archived; later growth is ignored."""

    path: str
    size: int
    mtime: int
    snapshot: Path | None
    """Another file with its content, such as a consistent copy of a database."""


@contextmanager
def packed_files(run: RunDirectory) -> Iterator[list[PackedFile]]:
    """The files of the run in order; copies of databases exist until the end of the context."""
    with ExitStack() as stack:
        try:
            folder = Path(tempfile.mkdtemp(prefix=EXPORTING, dir=run.path.parent))
        except OSError as error:
            raise ArchiveError(
                f"Run {run.run_id} cannot be exported: {error}.",
                remedy="Check that the home is on a disk that can be written to.",
            ) from error
        stack.callback(remove_folder, folder)
        # The store first: the spool, which is read later, has everything that is in the store.
        store = _snapshot(run.store, folder) if _is_database(run.store) else None
        yield sorted(_collect(run, folder, store))


def _collect(run: RunDirectory, folder: Path, store: Path | None) -> Iterator[PackedFile]:
    outside = {
        record.name: record for record in (run.started, run.exit) if record.parent != run.path
    }
    for name, record in outside.items():
        with suppress(OSError):  # the run was not started, or has not ended
            status = record.lstat()
            yield PackedFile(name, status.st_size, max(0, int(status.st_mtime)), record)
    for number, path in enumerate(_paths(run.path)):
        if path in outside:
            continue  # not from the supervisor
        if number == MAX_MEMBERS:
            raise ArchiveError(
                f"Run {run.run_id} has more than {MAX_MEMBERS:,} files.",
                remedy="Remove files that are not needed, or copy its folder instead.",
            )
        source = run.path / path
        copy: Path | None = None
        if source == run.store:
            copy = store
            if copy is None and _is_database(source):
                continue  # it is rebuilt from the spool, which is complete
        elif path.endswith(_DATABASES) and _is_database(source):
            copy = _snapshot(source, folder)
        with suppress(OSError):  # removed in the meantime, like temporary files
            status = (copy or source).lstat()
            if stat.S_ISREG(status.st_mode):
                yield PackedFile(path, status.st_size, max(0, int(status.st_mtime)), copy)


def _paths(root: Path) -> Iterator[str]:
    """The paths of all files that an archive may contain; special files are filtered later."""
    for folder, folders, names in os.walk(root):
        inner = os.path.relpath(folder, root)
        if inner.count("/") >= MAX_DEPTH:
            folders.clear()
        for name in names:
            path = name if inner == "." else f"{inner}/{name}"
            if is_excluded(path):
                continue
            if is_packable(path) and not (root / path).is_symlink():
                yield path
            else:
                _log.warning(
                    "T365 not exported: %r is a link, or not a valid name in an archive", path
                )


def _is_database(path: Path) -> bool:
    try:
        with open(open_regular(path), "rb") as file:  # noqa: PTH123 - opened by descriptor
            return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
    except OSError:
        return False


def _snapshot(database: Path, folder: Path) -> Path | None:
    """A copy of the current database, including recent commits; None when it is unreadable."""
    descriptor, name = tempfile.mkstemp(dir=folder)
    os.close(descriptor)
    wal = database.with_name(f"{database.name}-wal")
    if _size(database) + _size(wal) + MIN_FREE_BYTES > shutil.disk_usage(folder).free:
        raise NoRoomError(f"a temporary copy of {database.name}")
    reading = f"{database.absolute().as_uri()}?mode=ro"
    try:
        require_regular_database(database)
        with (
            closing(sqlite3.connect(reading, uri=True, timeout=_BUSY_TIMEOUT_S)) as source,
            closing(sqlite3.connect(name)) as copy,
        ):
            copy.execute("PRAGMA synchronous = OFF")
            source.backup(copy)
    except (sqlite3.Error, NotRegularFileError) as error:
        _log.warning("T366 no consistent copy of %s could be created: %s", database, error)
        return None
    return Path(name)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def open_packed(run: RunDirectory, file: PackedFile) -> Iterator[bytes]:
    """Exactly `file.size` bytes; zeros where the file has become shorter.

    Raises `OSError` at once when the file cannot be opened.
    """
    descriptor = open_regular(file.snapshot) if file.snapshot else _open_below(run.path, file.path)
    return _blocks(descriptor, file.size)


def _blocks(descriptor: int, remaining: int) -> Iterator[bytes]:
    with open(descriptor, "rb", buffering=0) as source:
        while remaining:
            size = min(PART_BYTES, remaining)
            block = source.read(size) or bytes(size)
            remaining -= len(block)
            yield block


def _open_below(root: Path, path: str) -> int:
    """Open the file one folder after the other, so that no link in its path is followed."""
    *folders, name = path.split("/")
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(root, flags & ~os.O_NOFOLLOW)
    try:
        for inner in folders:
            child = os.open(inner, flags, dir_fd=folder)
            os.close(folder)
            folder = child
        return open_regular(name, dir_fd=folder)
    finally:
        os.close(folder)
