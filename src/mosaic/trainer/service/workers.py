"""Calls on workers and bundles."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Sequence

import msgspec

from mosaic.contract.readiness import BundleInfo, InstallProgress
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.contract.text_types import Identifier
from mosaic.trainer.concurrency import run_in_long_thread
from mosaic.trainer.service.partial_servicer import Context, PartialServicer
from mosaic.trainer.service.request_checks import (
    BadRequestError,
    checked_line,
    checked_lines,
    shown,
)
from mosaic.trainer.workers.worker_infos import worker_info, worker_infos

_MAX_PATH_LENGTH = 4096

_log = logging.getLogger(__name__)


class WorkerServicer(PartialServicer):
    """An installation continues when its client disconnects: others may wait for the bundle."""

    _installations: dict["asyncio.Future[BundleInfo]", threading.Event]

    async def ListWorkers(self, _: pb.ListWorkersRequest, _context: Context) -> pb.WorkerList:
        trainer = self._trainer
        infos = await run_in_long_thread(worker_infos, trainer.catalog, trainer.bundles)
        return pb.WorkerList(workers=[to_message(info, pb.WorkerInfo) for info in infos])

    async def DescribeWorker(self, request: pb.WorkerRef, _: Context) -> pb.WorkerInfo:
        worker_id = _identifier("worker_id", request.worker_id)
        script = checked_line("script", request.script, _MAX_PATH_LENGTH) or None
        trainer = self._trainer
        info = await run_in_long_thread(
            worker_info, worker_id, trainer.catalog, trainer.bundles, script
        )
        return to_message(info, pb.WorkerInfo)

    async def ListBundles(self, _: pb.ListBundlesRequest, _context: Context) -> pb.BundleList:
        bundles = await run_in_long_thread(self._bundles)
        return pb.BundleList(bundles=[to_message(bundle, pb.BundleInfo) for bundle in bundles])

    async def InstallBundle(
        self, request: pb.InstallBundleRequest, _: Context
    ) -> AsyncIterator[pb.InstallProgress]:
        name = _identifier("name", request.name)
        extras = tuple(
            _identifier("extras", extra) for extra in checked_lines("extras", request.extras, 100)
        )
        updates: asyncio.Queue[InstallProgress | None] = asyncio.Queue()
        installation = self._start_installation(name, extras, request.repair, updates)
        while (progress := await updates.get()) is not None:
            if progress.phase != "done":
                yield to_message(progress, pb.InstallProgress)
        bundle = await asyncio.shield(installation)
        done = InstallProgress(phase="done", message="Installed.", bundle=bundle)
        yield to_message(done, pb.InstallProgress)

    async def RemoveBundle(
        self, request: pb.RemoveBundleRequest, _: Context
    ) -> pb.RemoveBundleResponse:
        name = _identifier("name", request.name)
        bundle_hash = checked_line("hash", request.hash, 100)
        if bundle_hash:
            _identifier("hash", bundle_hash)
        return await run_in_long_thread(self._remove, name, bundle_hash)

    def cancel_installations(self) -> None:
        """When the daemon stops: interrupted installations are cleaned up and repeated later."""
        for cancelled in self._installations.values():
            cancelled.set()

    def _bundles(self) -> Sequence[BundleInfo]:
        return self._trainer.bundles.list(self._trainer.registry.bundle_uses())

    def _remove(self, name: str, bundle_hash: str) -> pb.RemoveBundleResponse:
        uses = self._trainer.registry.bundle_uses()
        removed = self._trainer.bundles.remove(name, bundle_hash, uses)
        return pb.RemoveBundleResponse(
            freed_bytes=removed.freed_bytes, removed=removed.removed, kept=removed.not_removed
        )

    def _start_installation(
        self,
        name: str,
        extras: Sequence[str],
        repair: bool,
        updates: "asyncio.Queue[InstallProgress | None]",
    ) -> "asyncio.Future[BundleInfo]":
        loop = asyncio.get_running_loop()
        cancelled = threading.Event()

        def on_progress(progress: InstallProgress) -> None:
            loop.call_soon_threadsafe(updates.put_nowait, progress)

        installation = asyncio.ensure_future(
            run_in_long_thread(
                self._trainer.bundles.install,
                name,
                extras,
                repair=repair,
                on_progress=on_progress,
                cancelled=cancelled,
            )
        )
        self._installations[installation] = cancelled

        def on_done(done: "asyncio.Future[BundleInfo]") -> None:
            del self._installations[done]
            updates.put_nowait(None)
            if not done.cancelled() and (error := done.exception()) is not None:
                _log.warning("T381 bundle %s was not installed: %s", name, error)

        installation.add_done_callback(on_done)
        return installation


def _identifier(field: str, value: str) -> str:
    """A valid name of a worker or a bundle, which is safe as part of a path."""
    try:
        return msgspec.convert(value, Identifier)
    except msgspec.ValidationError:
        raise BadRequestError(
            field,
            f"is not a valid name: {shown(value)}.",
            "A name has up to 100 letters, digits, '_', '-' and '.'.",
        ) from None
