"""Checkpoints: all saved policies, of runs and imported. Used by the service."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.regular_files import open_regular
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.storage import (
    CheckpointPage,
    CheckpointQuery,
    CheckpointRecord,
    CheckpointReport,
)
from mosaic.trainer.artifacts.run_tree import RunTree, is_within, resolve_inside
from mosaic.trainer.registry.artifact_rows import ArtifactPosition, ArtifactQuery, ArtifactRecord
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.errors import (
    InvalidCheckpointError,
    UnknownCheckpointError,
)
from mosaic.trainer.storage.imported_checkpoints import ImportedCheckpoints
from mosaic.trainer.storage.paging import artifact_id, page_of, path_in_home

_NO_LIMIT = 1 << 31


class Checkpoints:
    """The checkpoints of one home. Blocking; safe from any thread."""

    def __init__(self, home: Home, registry: RunRegistry) -> None:
        self._home = home
        self._registry = registry
        self.imported = ImportedCheckpoints(home)

    def list(self, query: CheckpointQuery) -> CheckpointPage:
        """A page, newest first. Raises `StoragePageTokenError`."""
        artifact_query = ArtifactQuery(
            kind="checkpoint",
            run_id=query.run_id,
            worker=query.worker,
            algo=query.algo,
            env_id=query.env_id,
        )

        def of_runs(before: ArtifactPosition | None, limit: int) -> Iterable[CheckpointRecord]:
            return map(self._of_run, self._registry.artifacts(artifact_query, before, limit))

        page, token = page_of(
            self._home,
            of_runs,
            self._imported(query),
            query.page_size,
            msgspec.msgpack.encode(artifact_query),
            query.page_token,
        )
        return CheckpointPage(checkpoints=page, next_page_token=token)

    def path(self, checkpoint_id: str) -> Path:
        """The path of the file, for a worker that starts from it. Raises `UserError`."""
        if is_ulid(checkpoint_id):
            folder = self.imported.folder(checkpoint_id)
            path = folder / self.imported.record(checkpoint_id).file
        else:
            row = self.row(checkpoint_id)
            path = resolve_inside(self._home.run(row.run_id), row.path)
        if not path.exists():
            raise UserError(
                f"The file of the checkpoint '{checkpoint_id}' no longer exists.",
                remedy="Choose another checkpoint.",
                code="T408",
            )
        return path

    def path_for(self, config: TrainRunConfig) -> Path | None:
        """The checkpoint that `warm_start` or `actor` names; None when neither names one.

        Raises `UserError` if it does not exist. Any other `actor` is a name of the worker's own.
        """
        if config.warm_start is not None:
            return self.path(config.warm_start)
        actor = config.actor or ""
        return self.path(actor) if is_ulid(actor.partition(".")[0]) else None

    def verify(
        self, checkpoint_id: str, is_cancelled: Callable[[], bool] = lambda: False
    ) -> CheckpointReport:
        """Compare the file with its record. Raises `UnknownCheckpointError`.

        Reads all of it, unless `is_cancelled` returns True before the end.
        """
        if is_ulid(checkpoint_id):
            return self._verify_imported(checkpoint_id, is_cancelled)
        row = self.row(checkpoint_id)
        meta = msgspec.json.decode(row.meta)
        sha256 = meta.get("sha256") if isinstance(meta, dict) else None
        expected = Expected(row.size_bytes, sha256 if isinstance(sha256, str) else "")
        return verify(self._home.run(row.run_id).path, row.path, expected, is_cancelled)

    def _verify_imported(
        self, checkpoint_id: str, is_cancelled: Callable[[], bool]
    ) -> CheckpointReport:
        folder = self.imported.folder(checkpoint_id)
        try:
            record = self.imported.record(checkpoint_id)
        except InvalidCheckpointError as error:
            return CheckpointReport(ok=False, problems=(error.message,))
        return verify(folder, record.file, Expected(record.size_bytes, record.sha256), is_cancelled)

    def row(self, checkpoint_id: str) -> ArtifactRecord:
        """The record of a checkpoint that a run wrote. Raises `UnknownCheckpointError`."""
        run_id = checkpoint_id.partition(".")[0]
        if is_ulid(run_id):
            of_run = ArtifactQuery(kind="checkpoint", run_id=run_id)
            for row in self._registry.artifacts(of_run, None, _NO_LIMIT):
                if artifact_id(run_id, row.path) == checkpoint_id:
                    return row
        raise UnknownCheckpointError(checkpoint_id)

    def _imported(self, query: CheckpointQuery) -> Iterator[CheckpointRecord]:
        for checkpoint in () if query.run_id else self.imported.all():
            if all(
                not requested or requested == value
                for requested, value in (
                    (query.worker, checkpoint.worker),
                    (query.algo, checkpoint.algo),
                    (query.env_id, checkpoint.env_id),
                )
            ):
                yield checkpoint

    def _of_run(self, row: ArtifactRecord) -> CheckpointRecord:
        return CheckpointRecord(
            checkpoint_id=artifact_id(row.run_id, row.path),
            source="run",
            run_id=row.run_id,
            path=path_in_home(self._home, row),
            size_bytes=row.size_bytes,
            t=row.t,
            worker=row.worker,
            algo=row.algo,
            env_id=row.env_id,
            meta_json=row.meta.encode(),
        )


_BLOCK_BYTES = 1 << 20


class Expected(NamedTuple):
    """The recorded size and hash; an empty hash is unknown."""

    size_bytes: int
    sha256: str


def verify(
    folder: Path, path: str, expected: Expected, is_cancelled: Callable[[], bool]
) -> CheckpointReport:
    """Compare `path` in `folder` with its record. Reading stops when `is_cancelled`."""
    root = os.path.realpath(folder)
    real = os.path.realpath(folder / path)
    if not is_within(root, real):
        return _failed("It is a link to a path outside of its folder.")
    try:
        is_folder = stat.S_ISDIR(os.lstat(real).st_mode)
    except OSError:
        return _failed("It no longer exists.")
    try:
        size, sha256 = (_read_folder if is_folder else _read_file)(folder, real, is_cancelled)
    except OSError as error:
        return _failed(f"It cannot be read: {error.strerror or error}.")
    problems = []
    if size != expected.size_bytes:
        problems.append(f"It has {size:,} bytes; {expected.size_bytes:,} are recorded.")
    if sha256 and expected.sha256 and sha256 != expected.sha256.lower():
        problems.append("Its content has changed: the SHA-256 differs.")
    return CheckpointReport(
        ok=not problems, problems=tuple(problems), sha256=sha256, size_bytes=size
    )


def _failed(problem: str) -> CheckpointReport:
    return CheckpointReport(ok=False, problems=(problem,))


def _read_file(_: Path, real: str, is_cancelled: Callable[[], bool]) -> tuple[int, str]:
    digest = hashlib.sha256()
    size = 0
    with open(open_regular(real), "rb") as file:  # noqa: PTH123 - opened by descriptor
        while (block := file.read(_BLOCK_BYTES)) and not is_cancelled():
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def _read_folder(folder: Path, real: str, is_cancelled: Callable[[], bool]) -> tuple[int, str]:
    """The size as in the artifact scan; a folder has no hash."""
    tree = RunTree(RunDirectory(folder))
    inner = os.path.relpath(real, os.path.realpath(folder))
    size = 0
    for file in tree.walk(inner):
        size += _read_file(folder, os.path.realpath(tree.full(file.path)), is_cancelled)[0]
    return size, ""
