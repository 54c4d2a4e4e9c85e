"""The list of workers for clients. Called by the service."""

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Protocol

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.readiness import WorkerInfo
from mosaic.trainer.workers.found_worker import BrokenWorker, FoundWorker
from mosaic.trainer.workers.run_scripts import check_script_file, is_file_name
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

_MAX_CONCURRENT = 4
_LIST_TIMEOUT_S = 40.0
"""Longer than one worker may take, and shorter than clients wait for the list."""


class Readiness(Protocol):
    """The part of the bundle store that the list needs."""

    def is_ready(self, worker_id: str, script: str | None = None) -> bool:
        """Whether the environment of the worker or its script is installed, or not needed."""


def worker_infos(
    catalog: WorkerCatalog, bundles: Readiness, timeout_s: float = _LIST_TIMEOUT_S
) -> list[WorkerInfo]:
    """All workers by id. New ones are described, a few at a time.

    Workers that have not described themselves within `timeout_s` are listed with that problem, and
    are described in the background: one that hangs does not make the list fail.
    """
    pool = ThreadPoolExecutor(_MAX_CONCURRENT, thread_name_prefix="describe")
    infos = {
        worker: pool.submit(_info, worker, catalog, bundles) for worker in tuple(catalog.scan())
    }
    pool.shutdown(wait=False)
    done, _ = wait(infos.values(), timeout_s)
    return [
        info.result() if info in done else _pending_info(worker, timeout_s)
        for worker, info in infos.items()
    ]


def worker_info(
    worker_id: str, catalog: WorkerCatalog, bundles: Readiness, script: str | None = None
) -> WorkerInfo:
    """One worker, including a broken one, or its description of a script.

    Raises T130 when there is no worker with that id, and T450 when the script does not exist.
    """
    matching = [worker for worker in catalog.scan() if worker.worker_id == worker_id]
    if script is not None and is_file_name(script):
        check_script_file(script)
    return _info(matching[0] if matching else catalog.find(worker_id), catalog, bundles, script)


def _info(
    worker: FoundWorker | BrokenWorker,
    catalog: WorkerCatalog,
    bundles: Readiness,
    script: str | None = None,
) -> WorkerInfo:
    if isinstance(worker, BrokenWorker):
        return WorkerInfo(
            worker_id=worker.worker_id,
            source=worker.source,
            location=str(worker.location),
            problem=worker.problem,
            remedy=worker.remedy,
        )
    info = _basic_info(worker, script)
    try:
        descriptor = catalog.describe(worker.worker_id, script)
        return msgspec.structs.replace(
            info,
            version=descriptor.version or worker.version,
            descriptor_json=msgspec.json.encode(descriptor),
            ready=bundles.is_ready(worker.worker_id, script),
        )
    except UserError as error:
        return msgspec.structs.replace(info, problem=error.message, remedy=error.remedy)


def _basic_info(worker: FoundWorker, script: str | None = None) -> WorkerInfo:
    return WorkerInfo(
        worker_id=worker.worker_id,
        label=worker.manifest.label,
        version=worker.version,
        source=worker.source,
        location=str(worker.location),
        bundle=worker.manifest.bundle_for(None, script) or "",
    )


def _pending_info(worker: FoundWorker | BrokenWorker, timeout_s: float) -> WorkerInfo:
    info = (
        _basic_info(worker)
        if isinstance(worker, FoundWorker)
        else WorkerInfo(worker_id=worker.worker_id, source=worker.source)
    )
    return msgspec.structs.replace(
        info,
        problem=f"It has not described itself within {timeout_s:g} s.",
        remedy="List the workers again later; `--describe` of this or another worker hangs.",
    )
