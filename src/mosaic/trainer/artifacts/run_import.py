"""Importing a run from an untrusted archive.

It is unpacked beside the runs, validated, and renamed to its final path last: an imported run is
complete, and an interrupted import is a folder that `clean_leftovers` removes.
"""

import errno
import gzip
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar, cast

import msgspec

from mosaic.contract.atomic_file import sync_folder, sync_tree, write_atomically
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.run_config import TrainRunConfig, to_json
from mosaic.contract.runs import RunRecord
from mosaic.trainer.artifacts.archive_format import (
    FORMAT,
    HEADER,
    MAX_BYTES,
    MAX_HEADER_BYTES,
    MAX_MEMBERS,
    MAX_SUMS_BYTES,
    MIN_FREE_BYTES,
    SUMS,
    ArchiveError,
    ArchiveHeader,
    ArchiveSums,
    FileSum,
    NoRoomError,
    RunDirectoryExistsError,
    is_derived,
    is_excluded,
    is_packable,
)
from mosaic.trainer.artifacts.foreign_run import (
    check_record,
    mark_finished,
    mark_imported,
    read_config,
)
from mosaic.trainer.artifacts.run_removal import IMPORTING, remove_folder
from mosaic.trainer.artifacts.tar_stream import TarStream, is_file

_Document = TypeVar("_Document", bound=msgspec.Struct)


class ImportedRun(NamedTuple):
    """An unpacked run. Its directory marks it as finished, whatever its state was."""

    run_id: str
    config: TrainRunConfig
    record: RunRecord | None
    """As exported; for a run that had not finished then, with its new state."""


def import_run(home: Home, parts: Iterator[bytes], max_bytes: int = MAX_BYTES) -> ImportedRun:
    """Unpack the run in the archive into the home. Blocking.

    Raises `ArchiveError`, `RunDirectoryExistsError` or `NoRoomError`; then nothing is left behind.
    """
    home.runs.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=IMPORTING, dir=home.runs))
    try:
        header = _unpack_stream(home, folder, parts, max_bytes)
        unpacked = RunDirectory(folder)
        config = read_config(unpacked)
        record = mark_finished(unpacked, header)
        mark_imported(unpacked, header)
        sync_tree(folder)  # a power failure after the rename must not leave empty files
        _move_to_home(home, folder, header.run_id)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoomError("the run") from error
        raise ArchiveError(
            f"The archive cannot be unpacked: {error}.",
            remedy="Check that the home is on a disk that can be written to.",
        ) from error
    finally:
        if folder.exists():
            remove_folder(folder)
    home.configs.mkdir(parents=True, exist_ok=True)
    write_atomically(home.config_copy(header.run_id), to_json(config))
    return ImportedRun(header.run_id, config, record)


def _unpack_stream(
    home: Home, folder: Path, parts: Iterator[bytes], max_bytes: int
) -> ArchiveHeader:
    stream = gzip.GzipFile(fileobj=io.BufferedReader(_PartsReader(iter(parts))), mode="rb")
    try:
        return _Unpacker(home, folder, max_bytes).unpack(TarStream(cast("BinaryIO", stream)))
    except EOFError as error:
        raise ArchiveError("The archive is truncated: its end is missing.") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ArchiveError(f"It is not a gzip file, or damaged: {error}.") from error


class _PartsReader(io.RawIOBase):
    """The parts as one file object."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._buffer = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._buffer:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._buffer = memoryview(part)
        count = min(len(buffer), len(self._buffer))
        buffer[:count] = self._buffer[:count]
        self._buffer = self._buffer[count:]
        return count


class _Unpacker:
    """Unpacks one archive into a folder."""

    def __init__(self, home: Home, folder: Path, max_bytes: int) -> None:
        self._home = home
        self._folder = folder
        self._max_bytes = max_bytes
        self._sums: dict[str, FileSum] = {}
        self._bytes = 0

    def unpack(self, archive: TarStream) -> ArchiveHeader:
        members = iter(archive)
        header = self._header(archive, next(members, None))
        sums: ArchiveSums | None = None
        for number, member in enumerate(members):
            if number > MAX_MEMBERS:
                raise ArchiveError(f"It has more than {MAX_MEMBERS:,} members.")
            if sums is not None:
                raise ArchiveError(f"{_quote(member.name)} follows {SUMS}, which must be last.")
            if member.name == SUMS and is_file(member):
                sums = _decode(SUMS, archive.read_document(SUMS, MAX_SUMS_BYTES), ArchiveSums)
            elif not member.isdir():
                self._unpack_member(archive, header, member)
        if sums is None:
            raise ArchiveError(f"The archive is truncated: it has no {SUMS}.")
        if {file.path: file for file in sums.files} != self._sums:
            raise ArchiveError(f"Its files do not match {SUMS}: it is damaged.")
        return header

    def _header(self, archive: TarStream, member: tarfile.TarInfo | None) -> ArchiveHeader:
        if member is None or member.name != HEADER or not is_file(member):
            raise ArchiveError(
                f"It is not an archive of a run: it does not start with {HEADER}.",
                remedy="Use a file that `mosaic runs export` has written.",
            )
        data = archive.read_document(HEADER, MAX_HEADER_BYTES)
        version = _decode(HEADER, data, _Version).format
        if version != FORMAT:
            raise ArchiveError(
                f"{HEADER} is of format {version}, and this version reads format {FORMAT}.",
                remedy="Use a newer version of MOSAIC to import it.",
            )
        header = _decode(HEADER, data, ArchiveHeader)
        header.check()
        check_record(header)
        if os.path.lexists(self._home.run(header.run_id).path):
            raise RunDirectoryExistsError(header.run_id)
        if header.bytes > self._max_bytes:
            raise ArchiveError(
                f"Run {header.run_id} has {header.bytes:,} bytes; {self._max_bytes:,} are allowed.",
                remedy="Unpack it by hand on a larger disk.",
            )
        if header.bytes + MIN_FREE_BYTES > shutil.disk_usage(self._folder).free:
            raise NoRoomError(f"run {header.run_id} of {header.bytes:,} bytes")
        return header

    def _unpack_member(
        self, archive: TarStream, header: ArchiveHeader, member: tarfile.TarInfo
    ) -> None:
        path = self._checked_path(header, member)
        self._bytes += member.size
        if self._bytes > header.bytes or len(self._sums) >= header.files:
            raise ArchiveError(f"With {_quote(member.name)} it contains more than {HEADER} lists.")
        digest = hashlib.sha256()
        if path in self._sums:
            raise ArchiveError(f"{_quote(member.name)} is in it twice.")
        if is_excluded(path) or is_derived(path):
            for block in archive.content():
                digest.update(block)
        else:
            self._write(archive, member, self._folder / path, digest)
        self._sums[path] = FileSum(path=path, size=member.size, sha256=digest.hexdigest())

    def _checked_path(self, header: ArchiveHeader, member: tarfile.TarInfo) -> str:
        """Relative to the run's directory. Raises `ArchiveError` for an invalid member."""
        if not is_file(member):
            raise ArchiveError(f"{_quote(member.name)} is a link or a device, not a file.")
        top, _, path = member.name.partition("/")
        if top != header.run_id or not is_packable(path):
            raise ArchiveError(f"{_quote(member.name)} is not a file name of run {header.run_id}.")
        data_filter = getattr(
            tarfile, "data_filter", None
        )  # not in the first releases of Python 3.11
        if data_filter is not None:
            try:
                data_filter(member.replace(name=path, deep=False), str(self._folder))
            except tarfile.TarError as error:
                raise ArchiveError(f"{_quote(member.name)} is rejected: {error}.") from error
        return path

    def _write(
        self, archive: TarStream, member: tarfile.TarInfo, target: Path, digest: "hashlib._Hash"
    ) -> None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            file = target.open("xb")
        except (FileExistsError, NotADirectoryError) as error:
            raise ArchiveError(f"{_quote(member.name)} is a file and a folder at once.") from error
        with file:
            for block in archive.content():
                digest.update(block)
                file.write(block)
        with suppress(OSError, OverflowError, ValueError):  # an invalid time
            os.utime(target, (member.mtime, member.mtime))


class _Version(msgspec.Struct):
    """The field that every format has."""

    format: int


def _decode(name: str, data: bytes, kind: type[_Document]) -> _Document:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ArchiveError(f"{name} cannot be read: {error}.") from error


def _move_to_home(home: Home, folder: Path, run_id: str) -> None:
    try:
        folder.rename(home.run(run_id).path)
        sync_folder(home.runs)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise RunDirectoryExistsError(run_id) from error
        raise


def _quote(name: str) -> str:
    return repr(name[:200])


prebuild_decoders(_Version)
