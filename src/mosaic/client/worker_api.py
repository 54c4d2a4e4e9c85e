"""Calls about workers, their bundles, and thumbnails of environments."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from mosaic.client.api_base import ApiBase
from mosaic.client.errors import TrainerError
from mosaic.client.results import BundleRemoval, EnvironmentThumbnail
from mosaic.client.streams import Stream
from mosaic.contract.descriptor import WorkerDescriptor, decode_descriptor
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import BundleInfo, InstallProgress, WorkerInfo
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message

_DESCRIBE_TIMEOUT_S = 60.0
_REMOVE_TIMEOUT_S = 300.0
_THUMBNAIL_TIMEOUT_S = 180.0  # thumbnails are rendered one after the other


class WorkerApi(ApiBase):
    """Workers, bundles and environment thumbnails."""

    def workers(self) -> list[WorkerInfo]:
        """List every worker; one that cannot be used has the reason in `problem`."""
        answer = self._connection.call(
            lambda stub: stub.ListWorkers, pb.ListWorkersRequest(), timeout_s=_DESCRIBE_TIMEOUT_S
        )
        return [from_message(message, WorkerInfo) for message in answer.workers]

    def worker(self, worker_id: str, script: str | None = None) -> WorkerInfo:
        """Return one worker with its descriptor as JSON.

        With `script`, the descriptor contains only the algorithm of that script.
        """
        answer = self._connection.call(
            lambda stub: stub.DescribeWorker,
            pb.WorkerRef(worker_id=worker_id, script=script or ""),
            timeout_s=_DESCRIBE_TIMEOUT_S,
        )
        return from_message(answer, WorkerInfo)

    def describe(self, worker_id: str, script: str | None = None) -> WorkerDescriptor:
        """Return the descriptor of a worker: algorithms, typed parameters, capabilities.

        With the absolute path of a script that the worker can run, the only algorithm is that
        script with its own parameters.

        for algorithm in client.describe("echo_worker").algorithms:
            print(algorithm.id, [parameter.name for parameter in algorithm.parameters])
        """
        info = self.worker(worker_id, script)
        if info.descriptor_json is None:
            raise TrainerError(
                info.problem or f"The worker '{worker_id}' has no descriptor.",
                remedy=info.remedy or "Run it with --describe to see why.",
            )
        return decode_descriptor(info.descriptor_json, worker_id)

    def bundles(self) -> list[BundleInfo]:
        """List the bundles of the workers, installed or not."""
        answer = self._connection.call(lambda stub: stub.ListBundles, pb.ListBundlesRequest())
        return [from_message(message, BundleInfo) for message in answer.bundles]

    def install_bundle(
        self, name: str, *, extras: Collection[str] = (), repair: bool = False
    ) -> Stream[InstallProgress]:
        """Install a bundle and stream the progress; the last message contains `bundle`.

        for progress in client.install_bundle("cleanrl_worker", extras=["atari"]):
            print(progress.phase, progress.message)
        """
        return Stream(
            self._connection,
            lambda stub: stub.InstallBundle,
            lambda: pb.InstallBundleRequest(name=name, extras=extras, repair=repair),
            lambda message: (from_message(message, InstallProgress),),
            reconnect_timeout_s=0.0,  # the user decides whether to restart an installation
        )

    def remove_bundle(self, name: str, *, hash: str = "") -> BundleRemoval:  # noqa: A002 - the name of the field
        """Remove the installations of a bundle that no run needs, or only the one with `hash`."""
        answer = self._connection.call(
            lambda stub: stub.RemoveBundle,
            pb.RemoveBundleRequest(name=name, hash=hash),
            timeout_s=_REMOVE_TIMEOUT_S,
        )
        return from_message(answer, BundleRemoval)

    def environment_thumbnail(
        self,
        env_id: str,
        env_kwargs: Mapping[str, Any] | None = None,
        seed: int = 0,
        *,
        python_path: Sequence[str] = (),
    ) -> EnvironmentThumbnail:
        """Render the environment after a reset, at most 320 pixels wide and high.

        Takes about a second if the last call was more than a few seconds ago, else a tenth of
        that. Concurrent calls are rendered one after the other. Nothing is installed and no run
        is created. `python_path` lists folders with the caller's modules, for an id of the form
        `module:Id`.

        Raises `TrainerError`: the packages are not installed (code T470), the environment does
        not exist or cannot be created (T471), renders nothing (T472), crashes (T473) or hangs
        (T474).
        """
        try:
            keywords = msgspec.json.encode(dict(env_kwargs)) if env_kwargs else b""
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise UserError(
                f"`env_kwargs` of {env_id} cannot be encoded as JSON: {error}.",
                remedy="Use only numbers, strings, booleans, lists, mappings and None.",
                code="C370",
            ) from error
        answer = self._connection.call(
            lambda stub: stub.DrawEnvironment,
            pb.DrawEnvironmentRequest(
                env_id=env_id, env_kwargs_json=keywords, seed=seed, python_path=python_path
            ),
            timeout_s=_THUMBNAIL_TIMEOUT_S,
        )
        return from_message(answer, EnvironmentThumbnail)
