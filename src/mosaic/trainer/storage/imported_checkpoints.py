"""ImportedCheckpoints: policies that came from elsewhere, each in a folder of its own.

    checkpoints/<ULID>/checkpoint.json   what is known of it
    checkpoints/<ULID>/<its file>

A folder appears when it is complete. The service writes here, `Checkpoints` lists.
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
from mosaic.contract.storage import CheckpointRecord
from mosaic.contract.text_types import PathInside
from mosaic.trainer.artifacts.archive_format import FREE_BYTES_KEPT, NoRoomError
from mosaic.trainer.artifacts.folder_removal import remove_folder
from mosaic.trainer.artifacts.inside_run import open_regular
from mosaic.trainer.storage.failures import CheckpointRefusedError, UnknownCheckpointError

_log = logging.getLogger(__name__)

MOST_BYTES = 20 << 30
RECORD = "checkpoint.json"
_IMPORTING = ".importing-"
_LOOK_FOR_ROOM_EVERY = 64 << 20
_MOST_RECORD_BYTES = 2 << 20


class NewCheckpoint(msgspec.Struct, kw_only=True, frozen=True):
    """What is known before its content arrives. Checked by whoever received it."""

    file: str
    worker: str
    algo: str = ""
    env_id: str
    meta: dict[str, Any] = {}
    size_bytes: int = 0
    """0: not known."""
    sha256: str = ""
    """Empty: not known."""


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
    """Of one home. Blocking; safe from any thread."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def clean(self) -> None:
        """Remove what was cut off. For the start of a daemon, when no import can be under way."""
        for folder in self._folders():
            if folder.name.startswith(_IMPORTING):
                try:
                    remove_folder(folder)
                except OSError as error:
                    _log.warning("T403 %s, which was cut off, cannot be removed: %s", folder, error)

    def all(self) -> Iterator[CheckpointRecord]:
        """Those with a readable record, in no order."""
        for folder in self._folders():
            if is_ulid(folder.name):
                try:
                    yield self._checkpoint(folder.name, self.record(folder.name))
                except UserError as error:
                    _log.debug("T404 %s is not listed: %s", folder, error)

    def folder(self, checkpoint_id: str) -> Path:
        """Where it lies. Raises `UnknownCheckpointError`."""
        folder = self._home.checkpoints / checkpoint_id
        if not is_ulid(checkpoint_id) or not folder.is_dir() or folder.is_symlink():
            raise UnknownCheckpointError(checkpoint_id)
        return folder

    def record(self, checkpoint_id: str) -> ImportRecord:
        """Raises `UnknownCheckpointError`, and `CheckpointRefusedError` when it is unreadable."""
        path = self.folder(checkpoint_id) / RECORD
        try:
            with open(open_regular(path), "rb") as file:  # noqa: PTH123 - opened by descriptor
                data = file.read(_MOST_RECORD_BYTES)
            return msgspec.json.decode(data, type=ImportRecord)
        except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise CheckpointRefusedError(
                f"The record of checkpoint {checkpoint_id} cannot be read: {error}.",
                f"Import the checkpoint again, and remove {self._home.relative(path.parent)}.",
            ) from error

    def remove(self, checkpoint_id: str) -> int:
        """Delete it; the bytes that this freed. Raises `UnknownCheckpointError`, and `OSError`."""
        folder = self.folder(checkpoint_id)
        freed = sum(each.lstat().st_size for each in folder.rglob("*"))
        doomed = self._home.checkpoints / f"{_IMPORTING}{checkpoint_id}-removed"
        folder.rename(doomed)  # from here on it does not exist, whatever happens
        remove_folder(doomed)
        return freed

    def take(self, new: NewCheckpoint, parts: Iterator[bytes]) -> CheckpointRecord:
        """Store what arrives; when that stops half way or is not what was announced, nothing stays.

        Raises `CheckpointRefusedError`, `NoRoomError`, and what `parts` raises.
        """
        try:
            return self._take(new, parts)
        except OSError as error:
            raise UserError(
                f"The checkpoint cannot be stored: {error}.",
                remedy=f"Check that {self._home.checkpoints} is a folder that you can write to.",
                code="T407",
            ) from error

    def _take(self, new: NewCheckpoint, parts: Iterator[bytes]) -> CheckpointRecord:
        checkpoint_id = new_ulid()
        unfinished = self._home.checkpoints / f"{_IMPORTING}{checkpoint_id}"
        unfinished.mkdir(mode=0o700, parents=True)
        try:
            self._check_room(new.size_bytes)
            size, sha256 = self._write(unfinished / new.file, new.size_bytes, parts)
            _check_as_announced(new, size, sha256)
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

    def _write(self, path: Path, announced: int, parts: Iterator[bytes]) -> tuple[int, str]:
        digest = hashlib.sha256()
        most = announced or MOST_BYTES
        size, looked_at = 0, 0
        with path.open("xb") as file:
            for part in parts:
                size += len(part)
                if size > most:
                    raise CheckpointRefusedError(
                        f"The checkpoint has more than {most:,} bytes.",
                        "Announce its true size; 20 GiB are the most.",
                    )
                if size - looked_at > _LOOK_FOR_ROOM_EVERY:
                    self._check_room(_LOOK_FOR_ROOM_EVERY)
                    looked_at = size
                digest.update(part)
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        return size, digest.hexdigest()

    def _check_room(self, size: int) -> None:
        if size + FREE_BYTES_KEPT > shutil.disk_usage(self._home.checkpoints).free:
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
                return [Path(each.path) for each in entries if each.is_dir(follow_symlinks=False)]
        except OSError:
            return []  # none was ever imported


def _check_as_announced(new: NewCheckpoint, size: int, sha256: str) -> None:
    if size == 0:
        raise CheckpointRefusedError("The checkpoint is empty.", "Name the file that holds it.")
    if new.size_bytes and size != new.size_bytes:
        raise CheckpointRefusedError(
            f"{size:,} bytes arrived instead of {new.size_bytes:,}.",
            "Import it again, when nothing writes to the file any more.",
        )
    if new.sha256 and sha256 != new.sha256:
        raise CheckpointRefusedError(
            f"What arrived has the SHA-256 {sha256}, not the announced {new.sha256}.",
            "The file was damaged on its way or has changed; get it again from where it was made.",
        )


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


prebuild_decoders(ImportRecord)
