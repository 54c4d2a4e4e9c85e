"""The list of workers as clients see it. Called by the service."""

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.readiness import WorkerInfo
from mosaic.trainer.workers.found_worker import BrokenWorker, FoundWorker
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

_ASKED_AT_ONCE = 4


class Readiness(Protocol):
    """As much of the bundle store as the list needs."""

    def is_ready(self, worker_id: str) -> bool:
        """Whether the worker's environment is there, or it needs none."""


def worker_infos(catalog: WorkerCatalog, bundles: Readiness) -> list[WorkerInfo]:
    """Every worker by id. Those not asked before are asked a few at a time."""
    workers = catalog.scan()
    with ThreadPoolExecutor(_ASKED_AT_ONCE, thread_name_prefix="describe") as pool:
        return list(pool.map(lambda worker: _info(worker, catalog, bundles), workers))


def worker_info(worker_id: str, catalog: WorkerCatalog, bundles: Readiness) -> WorkerInfo:
    """One worker, also one that cannot be used. Raises T130 when there is none of that id."""
    named = [worker for worker in catalog.scan() if worker.worker_id == worker_id]
    return _info(named[0] if named else catalog.find(worker_id), catalog, bundles)


def _info(
    worker: FoundWorker | BrokenWorker, catalog: WorkerCatalog, bundles: Readiness
) -> WorkerInfo:
    if isinstance(worker, BrokenWorker):
        return WorkerInfo(
            worker_id=worker.worker_id,
            source=worker.source,
            location=str(worker.location),
            problem=worker.problem,
            remedy=worker.remedy,
        )
    info = WorkerInfo(
        worker_id=worker.worker_id,
        label=worker.manifest.label,
        version=worker.version,
        source=worker.source,
        location=str(worker.location),
        bundle=worker.manifest.bundle or "",
    )
    try:
        descriptor = catalog.describe(worker.worker_id)
        return msgspec.structs.replace(
            info,
            version=descriptor.version or worker.version,
            descriptor_json=msgspec.json.encode(descriptor),
            ready=bundles.is_ready(worker.worker_id),
        )
    except UserError as error:
        return msgspec.structs.replace(info, problem=error.message, remedy=error.remedy)
