"""Calls about checkpoints, data sets, and how much of everything is kept."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mosaic.client.archive_files import read_parts
from mosaic.client.call_group import CallGroup
from mosaic.client.errors import TrainerError
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message
from mosaic.contract.storage import (
    CheckpointRecord,
    CheckpointReport,
    Dataset,
    PruneReport,
    RetentionStatus,
)

_LARGEST_PAGE = 1000
_READ_TIMEOUT_S = 3600.0  # twenty gigabytes from a slow disk
_MEASURE_TIMEOUT_S = 300.0


class StorageCalls(CallGroup):
    """What is kept besides the runs themselves."""

    def checkpoints(
        self, *, run_id: str = "", worker: str = "", algo: str = "", env_id: str = ""
    ) -> Iterator[CheckpointRecord]:
        """All checkpoints that match, of runs and imported, newest first, fetched page by page.

        newest = next(client.checkpoints(algo="ppo", env_id="CartPole-v1"), None)
        """
        request = pb.ListCheckpointsRequest(
            run_id=run_id, worker=worker, algo=algo, env_id=env_id, page_size=_LARGEST_PAGE
        )
        while True:
            page = self._connection.call(lambda stub: stub.ListCheckpoints, request)
            yield from (from_message(message, CheckpointRecord) for message in page.checkpoints)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def import_checkpoint(
        self,
        file: str | Path,
        *,
        worker: str,
        env_id: str,
        algo: str = "",
        name: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> CheckpointRecord:
        """Take in a policy that was saved elsewhere. `name` is that of the file unless given.

        policy = client.import_checkpoint(
            "policy.pt", worker="cleanrl_worker", algo="ppo", env_id="CartPole-v1"
        )
        """
        path = Path(file)
        header = pb.CheckpointHeader(
            name=name or path.name,
            worker=worker,
            algo=algo,
            env_id=env_id,
            meta_json=_encoded(meta or {}),
            size_bytes=_size_of(path),
        )

        def parts() -> Iterator[pb.CheckpointPart]:
            yield pb.CheckpointPart(header=header)
            for data in read_parts(path):
                yield pb.CheckpointPart(data=data)

        return from_message(
            self._connection.upload(lambda stub: stub.ImportCheckpoint, parts()), CheckpointRecord
        )

    def verify_checkpoint(self, checkpoint_id: str) -> CheckpointReport:
        """Whether the file is still what was written: there, as large, with the same hash.

        for checkpoint in client.checkpoints():
            assert client.verify_checkpoint(checkpoint.checkpoint_id).ok
        """
        answer = self._connection.call(
            lambda stub: stub.VerifyCheckpoint,
            pb.CheckpointRef(checkpoint_id=checkpoint_id),
            timeout_s=_READ_TIMEOUT_S,
        )
        return from_message(answer, CheckpointReport)

    def delete_checkpoint(self, checkpoint_id: str) -> int:
        """Remove a checkpoint for good. Returns how many bytes became free.

        One that a run writes, begins with or plays stays: that is a `TrainerError`.
        """
        answer = self._connection.call(
            lambda stub: stub.DeleteCheckpoint,
            pb.CheckpointRef(checkpoint_id=checkpoint_id),
            patience_s=0.0,
        )
        return answer.freed_bytes

    def datasets(self) -> Iterator[Dataset]:
        """All data sets, newest first; one that cannot be used says why in `problem`."""
        request = pb.ListDatasetsRequest(page_size=_LARGEST_PAGE)
        while True:
            page = self._connection.call(lambda stub: stub.ListDatasets, request)
            yield from (from_message(message, Dataset) for message in page.datasets)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def retention(self) -> RetentionStatus:
        """What is kept, what it takes by kind, and what `prune` would free.

        for use in client.retention().used:
            print(use.kind, use.size_bytes)
        """
        answer = self._connection.call(
            lambda stub: stub.GetRetention, pb.GetRetentionRequest(), timeout_s=_MEASURE_TIMEOUT_S
        )
        return from_message(answer, RetentionStatus)

    def prune(self, dry_run: bool = True) -> PruneReport:
        """Remove artifacts of runs that are over until the limits in the settings hold.

        Videos go first, then older checkpoints, then TensorBoard and W&B folders; telemetry,
        configurations, archived runs and runs with the tag `keep` are left alone. With `dry_run`
        nothing is removed.

            for item in client.prune().items:
                print(item.run_id, item.path, item.size_bytes, item.reason)
            client.prune(dry_run=False)
        """
        answer = self._connection.call(
            lambda stub: stub.Prune, pb.PruneRequest(dry_run=dry_run), timeout_s=_READ_TIMEOUT_S
        )
        return from_message(answer, PruneReport)


def _size_of(path: Path) -> int:
    """Raises `TrainerError` when `path` is no file that can be read."""
    try:
        with path.open("rb") as file:
            return file.seek(0, 2)
    except OSError as error:
        raise TrainerError(
            f"{path} cannot be read: {error.strerror}.", remedy="Name the file of a checkpoint."
        ) from error


def _encoded(meta: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(dict(meta))
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise TrainerError(
            f"`meta` cannot be sent: {error}.", remedy="Use what JSON has: text, numbers, lists."
        ) from error
