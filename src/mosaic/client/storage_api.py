"""Calls about checkpoints, datasets, disk usage and pruning."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mosaic.client.api_base import ApiBase
from mosaic.client.errors import TrainerError
from mosaic.client.file_transfer import read_chunks
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message
from mosaic.contract.storage import (
    CheckpointRecord,
    CheckpointReport,
    Dataset,
    PruneReport,
    RetentionStatus,
)

_MAX_PAGE_SIZE = 1000
_READ_TIMEOUT_S = 3600.0  # twenty gigabytes from a slow disk
_MEASURE_TIMEOUT_S = 300.0


class StorageApi(ApiBase):
    """Checkpoints, datasets and retention."""

    def checkpoints(
        self, *, run_id: str = "", worker: str = "", algo: str = "", env_id: str = ""
    ) -> Iterator[CheckpointRecord]:
        """Iterate over all matching checkpoints, newest first, fetched page by page.

        Includes checkpoints of runs and imported ones.

        newest = next(client.checkpoints(algo="ppo", env_id="CartPole-v1"), None)
        """
        request = pb.ListCheckpointsRequest(
            run_id=run_id, worker=worker, algo=algo, env_id=env_id, page_size=_MAX_PAGE_SIZE
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
        """Import a policy that was saved elsewhere. `name` defaults to the name of the file.

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
            meta_json=_encode(meta or {}),
            size_bytes=_get_size(path),
        )

        def messages() -> Iterator[pb.CheckpointPart]:
            yield pb.CheckpointPart(header=header)
            for data in read_chunks(path):
                yield pb.CheckpointPart(data=data)

        return from_message(
            self._connection.upload(lambda stub: stub.ImportCheckpoint, messages()),
            CheckpointRecord,
        )

    def verify_checkpoint(self, checkpoint_id: str) -> CheckpointReport:
        """Check that the file exists and has the recorded size and hash.

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
        """Delete a checkpoint. Returns the number of freed bytes.

        Raises `TrainerError` for a checkpoint that an active run writes, resumes from or plays.
        """
        answer = self._connection.call(
            lambda stub: stub.DeleteCheckpoint,
            pb.CheckpointRef(checkpoint_id=checkpoint_id),
            retry_timeout_s=0.0,
        )
        return answer.freed_bytes

    def datasets(self) -> Iterator[Dataset]:
        """Iterate over all datasets, newest first; an unusable one has the reason in `problem`."""
        request = pb.ListDatasetsRequest(page_size=_MAX_PAGE_SIZE)
        while True:
            page = self._connection.call(lambda stub: stub.ListDatasets, request)
            yield from (from_message(message, Dataset) for message in page.datasets)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def retention(self) -> RetentionStatus:
        """Return the retention limits, the disk usage by kind, and what `prune` would free.

        for use in client.retention().used:
            print(use.kind, use.size_bytes)
        """
        answer = self._connection.call(
            lambda stub: stub.GetRetention, pb.GetRetentionRequest(), timeout_s=_MEASURE_TIMEOUT_S
        )
        return from_message(answer, RetentionStatus)

    def prune(self, dry_run: bool = True) -> PruneReport:
        """Remove artifacts of finished runs until the limits in the settings are met.

        Videos are removed first, then older checkpoints, then TensorBoard and W&B folders.
        Telemetry, configurations, archived runs and runs with the tag `keep` are never touched.
        With `dry_run` nothing is removed.

            for item in client.prune().items:
                print(item.run_id, item.path, item.size_bytes, item.reason)
            client.prune(dry_run=False)
        """
        answer = self._connection.call(
            lambda stub: stub.Prune, pb.PruneRequest(dry_run=dry_run), timeout_s=_READ_TIMEOUT_S
        )
        return from_message(answer, PruneReport)


def _get_size(path: Path) -> int:
    """Return the size of the file; raise `TrainerError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.seek(0, 2)
    except OSError as error:
        raise TrainerError(
            f"{path} cannot be read: {error.strerror}.", remedy="Choose the file of a checkpoint."
        ) from error


def _encode(meta: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(dict(meta))
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise TrainerError(
            f"`meta` cannot be encoded as JSON: {error}.",
            remedy="Use only numbers, strings, booleans, lists, mappings and None.",
        ) from error
