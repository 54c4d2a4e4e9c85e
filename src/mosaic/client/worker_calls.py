"""Calls about workers and the environments that they run in."""

from collections.abc import Collection

from mosaic.client.call_group import CallGroup
from mosaic.client.errors import TrainerError
from mosaic.client.results import RemovedBundles
from mosaic.client.streams import Stream
from mosaic.contract.descriptor import WorkerDescriptor, decode_descriptor
from mosaic.contract.readiness import BundleInfo, InstallProgress, WorkerInfo
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message

_DESCRIBE_TIMEOUT_S = 60.0
_REMOVE_TIMEOUT_S = 300.0


class WorkerCalls(CallGroup):
    """Workers and bundles."""

    def workers(self) -> list[WorkerInfo]:
        """Every worker that was found, also one that cannot be used, with the reason."""
        answer = self._connection.call(
            lambda stub: stub.ListWorkers, pb.ListWorkersRequest(), timeout_s=_DESCRIBE_TIMEOUT_S
        )
        return [from_message(message, WorkerInfo) for message in answer.workers]

    def worker(self, worker_id: str, script: str | None = None) -> WorkerInfo:
        """One worker, with its descriptor in JSON; with a script, that is its only algorithm."""
        answer = self._connection.call(
            lambda stub: stub.DescribeWorker,
            pb.WorkerRef(worker_id=worker_id, script=script or ""),
            timeout_s=_DESCRIBE_TIMEOUT_S,
        )
        return from_message(answer, WorkerInfo)

    def describe(self, worker_id: str, script: str | None = None) -> WorkerDescriptor:
        """A worker in its own words: algorithms, typed parameters, capabilities.

        With the whole path of a script that the worker can run, the only algorithm is that script,
        with its own parameters.

        for algorithm in client.describe("echo_worker").algorithms:
            print(algorithm.id, [parameter.name for parameter in algorithm.parameters])
        """
        info = self.worker(worker_id, script)
        if info.descriptor_json is None:
            raise TrainerError(
                info.problem or f"The worker '{worker_id}' does not describe itself.",
                remedy=info.remedy or "Run it with --describe to see why.",
            )
        return decode_descriptor(info.descriptor_json, worker_id)

    def bundles(self) -> list[BundleInfo]:
        """The environments of the workers, installed or not."""
        answer = self._connection.call(lambda stub: stub.ListBundles, pb.ListBundlesRequest())
        return [from_message(message, BundleInfo) for message in answer.bundles]

    def install_bundle(
        self, name: str, *, extras: Collection[str] = (), repair: bool = False
    ) -> Stream[InstallProgress]:
        """Install an environment; the last message has it in `bundle`.

        for progress in client.install_bundle("cleanrl_worker", extras=["atari"]):
            print(progress.phase, progress.message)
        """
        return Stream(
            self._connection,
            lambda stub: stub.InstallBundle,
            lambda: pb.InstallBundleRequest(name=name, extras=extras, repair=repair),
            lambda message: (from_message(message, InstallProgress),),
            patience_s=0.0,  # to begin again is for a person to decide
        )

    def remove_bundle(self, name: str, *, hash: str = "") -> RemovedBundles:  # noqa: A002 - its name
        """Remove the environments of a bundle that no run needs, or the one with that hash."""
        answer = self._connection.call(
            lambda stub: stub.RemoveBundle,
            pb.RemoveBundleRequest(name=name, hash=hash),
            timeout_s=_REMOVE_TIMEOUT_S,
        )
        return from_message(answer, RemovedBundles)
