"""ImportedCheckpoints: policies from other places, each in its own folder.

    checkpoints/<ULID>/checkpoint.json   its record
    checkpoints/<ULID>/<its file>

A folder appears when it is complete. The service adds checkpoints, `Checkpoints` lists them.
"""

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid, new_ulid
from mosaic.contract.layout import Home
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.regular_files import open_regular
from mosaic.contract.storage import CheckpointRecord
from mosaic.contract.text_types import PathInside
from mosaic.trainer.artifacts.archive_format import MIN_FREE_BYTES, NoRoomError
from mosaic.trainer.artifacts.run_removal import remove_folder
from mosaic.trainer.storage.errors import InvalidCheckpointError, UnknownCheckpointError

_log = logging.getLogger(__name__)

MAX_BYTES = 20 << 30
RECORD = "checkpoint.json"
_IMPORTING = ".importing-"
_CHECK_DISK_EVERY = 64 << 20
_MAX_RECORD_BYTES = 2 << 20


class NewCheckpoint(msgspec.Struct, kw_only=True, frozen=True):
    """The header of an upload, validated by the service."""

    file: str
    worker: str
    algo: str = ""
    env_id: str
    meta: dict[str, Any] = {}
    size_bytes: int = 0
    """0: unknown."""
    sha256: str = ""
    """Empty: unknown."""


class ImportRecord(msgspec.Struct, kw_only=True, frozen=True):
    """`checkpoint.json`."""

    file: PathInside
    worker: str
    algo: str = ""
    env_id: str = ""
    meta: dict[str, Any] = {}
    size_bytes: int
    sha256: str
    imported_at: float


class ImportedCheckpoints:
    """The imported checkpoints of one home. Blocking; safe from any thread."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def clean(self) -> None:
        """Remove interrupted imports. Only at the start of a daemon, when no import is running."""
        for folder in self._folders():
            if folder.name.startswith(_IMPORTING):
                try:
                    remove_folder(folder)
                except OSError as error:
                    _log.warning(
                        "T403 the interrupted import %s cannot be removed: %s", folder, error
                    )

    def all(self) -> Iterator[CheckpointRecord]:
        """Those with a readable record, unordered."""
        for folder in self._folders():
            if is_ulid(folder.name):
                try:
                    yield self._checkpoint(folder.name, self.record(folder.name))
                except UserError as error:
                    _log.debug("T404 %s is not listed: %s", folder, error)

    def folder(self, checkpoint_id: str) -> Path:
        """Its folder. Raises `UnknownCheckpointError`."""
        folder = self._home.checkpoints / checkpoint_id
        if not is_ulid(checkpoint_id) or not folder.is_dir() or folder.is_symlink():
            raise UnknownCheckpointError(checkpoint_id)
        return folder

    def record(self, checkpoint_id: str) -> ImportRecord:
        """Raises `UnknownCheckpointError`, and `InvalidCheckpointError` when it is unreadable."""
        path = self.folder(checkpoint_id) / RECORD
        try:
            with open(open_regular(path), "rb") as file:  # noqa: PTH123 - opened by descriptor
                data = file.read(_MAX_RECORD_BYTES)
            return msgspec.json.decode(data, type=ImportRecord)
        except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise InvalidCheckpointError(
                f"The record of checkpoint {checkpoint_id} cannot be read: {error}.",
                f"Import the checkpoint again, and remove {self._home.relative(path.parent)}.",
            ) from error

    def remove(self, checkpoint_id: str) -> int:
        """Delete it; returns the bytes freed. Raises `UnknownCheckpointError` and `OSError`."""
        folder = self.folder(checkpoint_id)
        freed = sum(entry.lstat().st_size for entry in folder.rglob("*"))
        removed_folder = self._home.checkpoints / f"{_IMPORTING}{checkpoint_id}-removed"
        folder.rename(removed_folder)  # it is removed now, even if the daemon is killed
        remove_folder(removed_folder)
        return freed

    def add(self, new: NewCheckpoint, chunks: Iterator[bytes]) -> CheckpointRecord:
        """Store an upload; nothing is stored if it is interrupted or does not match its header.

        Raises `InvalidCheckpointError`, `NoRoomError`, and what `chunks` raises.
        """
        try:
            return self._add(new, chunks)
        except OSError as error:
            raise UserError(
                f"The checkpoint cannot be stored: {error}.",
                remedy=f"Check that {self._home.checkpoints} is a folder that you can write to.",
                code="T407",
            ) from error

    def _add(self, new: NewCheckpoint, chunks: Iterator[bytes]) -> CheckpointRecord:
        checkpoint_id = new_ulid()
        unfinished = self._home.checkpoints / f"{_IMPORTING}{checkpoint_id}"
        unfinished.mkdir(mode=0o700, parents=True)
        try:
            self._check_disk(new.size_bytes)
            size, sha256 = self._write(unfinished / new.file, new.size_bytes, chunks)
            _check_header(new, size, sha256)
            record = ImportRecord(
                file=new.file,
                worker=new.worker,
                algo=new.algo,
                env_id=new.env_id,
                meta=new.meta,
                size_bytes=size,
                sha256=sha256,
                imported_at=time.time(),
            )
            write_atomically(unfinished / RECORD, msgspec.json.encode(record))
            unfinished.rename(self._home.checkpoints / checkpoint_id)
        except BaseException:
            remove_folder(unfinished)
            raise
        _sync(self._home.checkpoints)
        return self._checkpoint(checkpoint_id, record)

    def _write(self, path: Path, expected_bytes: int, chunks: Iterator[bytes]) -> tuple[int, str]:
        digest = hashlib.sha256()
        max_bytes = expected_bytes or MAX_BYTES
        size, checked_at = 0, 0
        with path.open("xb") as file:
            for chunk in chunks:
                size += len(chunk)
                if size > max_bytes:
                    raise InvalidCheckpointError(
                        f"The checkpoint has more than {max_bytes:,} bytes.",
                        "Send its correct size in the header; the maximum is 20 GiB.",
                    )
                if size - checked_at > _CHECK_DISK_EVERY:
                    self._check_disk(_CHECK_DISK_EVERY)
                    checked_at = size
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        return size, digest.hexdigest()

    def _check_disk(self, size: int) -> None:
        if size + MIN_FREE_BYTES > shutil.disk_usage(self._home.checkpoints).free:
            raise NoRoomError("the checkpoint")

    def _checkpoint(self, checkpoint_id: str, record: ImportRecord) -> CheckpointRecord:
        path = self._home.checkpoints / checkpoint_id / record.file
        return CheckpointRecord(
            checkpoint_id=checkpoint_id,
            source="imported",
            path=self._home.relative(path),
            size_bytes=record.size_bytes,
            t=record.imported_at,
            worker=record.worker,
            algo=record.algo,
            env_id=record.env_id,
            meta_json=msgspec.json.encode({**record.meta, "sha256": record.sha256}),
        )

    def _folders(self) -> list[Path]:
        try:
            with os.scandir(self._home.checkpoints) as entries:
                return [
                    Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return []  # nothing was imported yet


def _check_header(new: NewCheckpoint, size: int, sha256: str) -> None:
    if size == 0:
        raise InvalidCheckpointError(
            "The checkpoint is empty.", "Choose the file that contains the policy."
        )
    if new.size_bytes and size != new.size_bytes:
        raise InvalidCheckpointError(
            f"The checkpoint has {size:,} bytes, expected {new.size_bytes:,}.",
            "Import it again when nothing writes to the file.",
        )
    if new.sha256 and sha256 != new.sha256:
        raise InvalidCheckpointError(
            f"The checkpoint has the SHA-256 {sha256}, expected {new.sha256}.",
            "The file was damaged or has changed; copy it again from its origin.",
        )


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


prebuild_decoders(ImportRecord)
