"""Checkpoints: every saved policy there is, of runs and imported. The service asks here."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from mosaic.contract.ids import is_ulid
from mosaic.contract.layout import Home
from mosaic.contract.storage import (
    CheckpointPage,
    CheckpointQuery,
    CheckpointRecord,
    CheckpointReport,
)
from mosaic.trainer.artifacts.inside_run import inside
from mosaic.trainer.registry.artifact_rows import ArtifactPlace, ArtifactQuery, ArtifactRow
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.failures import (
    CheckpointGoneError,
    CheckpointRefusedError,
    UnknownCheckpointError,
)
from mosaic.trainer.storage.imported_checkpoints import ImportedCheckpoints
from mosaic.trainer.storage.paging import artifact_id, page_of, path_in_home
from mosaic.trainer.storage.verification import Expected, verify

_ALL_OF_A_RUN = 1 << 31


class Checkpoints:
    """Of one home. Blocking; safe from any thread."""

    def __init__(self, home: Home, registry: RunRegistry) -> None:
        self._home = home
        self._registry = registry
        self.imported = ImportedCheckpoints(home)

    def list(self, query: CheckpointQuery) -> CheckpointPage:
        """A page, newest first. Raises `StoragePageTokenError`."""
        wanted = ArtifactQuery(
            kind="checkpoint",
            run_id=query.run_id,
            worker=query.worker,
            algo=query.algo,
            env_id=query.env_id,
        )

        def of_runs(before: ArtifactPlace | None, limit: int) -> Iterable[CheckpointRecord]:
            return map(self._of_run, self._registry.artifacts(wanted, before, limit))

        page, token = page_of(
            self._home,
            of_runs,
            self._imported(query),
            query.page_size,
            msgspec.msgpack.encode(wanted),
            query.page_token,
        )
        return CheckpointPage(checkpoints=page, next_page_token=token)

    def path(self, checkpoint_id: str) -> Path:
        """Where the file is, for a worker that begins from it. Raises `UserError`."""
        if is_ulid(checkpoint_id):
            folder = self.imported.folder(checkpoint_id)
            path = folder / self.imported.record(checkpoint_id).file
        else:
            row = self.row(checkpoint_id)
            path = inside(self._home.run(row.run_id), row.path)
        if not path.exists():
            raise CheckpointGoneError(checkpoint_id)
        return path

    def verify(
        self, checkpoint_id: str, is_unwanted: Callable[[], bool] = lambda: False
    ) -> CheckpointReport:
        """Whether the file is what was recorded of it. Raises `UnknownCheckpointError`.

        Reads all of it, unless `is_unwanted` says meanwhile that nobody waits for the answer.
        """
        if is_ulid(checkpoint_id):
            return self._verify_imported(checkpoint_id, is_unwanted)
        row = self.row(checkpoint_id)
        meta = msgspec.json.decode(row.meta)
        told = meta.get("sha256") if isinstance(meta, dict) else None
        expected = Expected(row.size_bytes, told if isinstance(told, str) else "")
        return verify(self._home.run(row.run_id).path, row.path, expected, is_unwanted)

    def _verify_imported(
        self, checkpoint_id: str, is_unwanted: Callable[[], bool]
    ) -> CheckpointReport:
        folder = self.imported.folder(checkpoint_id)
        try:
            record = self.imported.record(checkpoint_id)
        except CheckpointRefusedError as error:
            return CheckpointReport(ok=False, problems=(error.message,))
        return verify(folder, record.file, Expected(record.size_bytes, record.sha256), is_unwanted)

    def row(self, checkpoint_id: str) -> ArtifactRow:
        """What is recorded of one that a run wrote. Raises `UnknownCheckpointError`."""
        run_id = checkpoint_id.partition(".")[0]
        if is_ulid(run_id):
            of_run = ArtifactQuery(kind="checkpoint", run_id=run_id)
            for row in self._registry.artifacts(of_run, None, _ALL_OF_A_RUN):
                if artifact_id(run_id, row.path) == checkpoint_id:
                    return row
        raise UnknownCheckpointError(checkpoint_id)

    def _imported(self, query: CheckpointQuery) -> Iterator[CheckpointRecord]:
        for checkpoint in () if query.run_id else self.imported.all():
            if all(
                not wanted or wanted == had
                for wanted, had in (
                    (query.worker, checkpoint.worker),
                    (query.algo, checkpoint.algo),
                    (query.env_id, checkpoint.env_id),
                )
            ):
                yield checkpoint

    def _of_run(self, row: ArtifactRow) -> CheckpointRecord:
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
