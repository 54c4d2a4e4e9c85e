"""The list of workers as clients see it. Called by the service."""

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.readiness import WorkerInfo
from mosaic.trainer.workers.found_worker import BrokenWorker, FoundWorker
from mosaic.trainer.workers.run_scripts import check_script_file, is_file_name
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

_ASKED_AT_ONCE = 4


class Readiness(Protocol):
    """As much of the bundle store as the list needs."""

    def is_ready(self, worker_id: str, script: str | None = None) -> bool:
        """Whether the worker's environment is there, or that of its scripts, or it needs none."""


def worker_infos(catalog: WorkerCatalog, bundles: Readiness) -> list[WorkerInfo]:
    """Every worker by id. Those not asked before are asked a few at a time."""
    workers = catalog.scan()
    with ThreadPoolExecutor(_ASKED_AT_ONCE, thread_name_prefix="describe") as pool:
        return list(pool.map(lambda worker: _info(worker, catalog, bundles), workers))


def worker_info(
    worker_id: str, catalog: WorkerCatalog, bundles: Readiness, script: str | None = None
) -> WorkerInfo:
    """One worker, also one that cannot be used, or how it would run a script.

    Raises T130 when there is none of that id, and T450 when there is no such script.
    """
    named = [worker for worker in catalog.scan() if worker.worker_id == worker_id]
    if script is not None and is_file_name(script):
        check_script_file(script)
    return _info(named[0] if named else catalog.find(worker_id), catalog, bundles, script)


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
    info = WorkerInfo(
        worker_id=worker.worker_id,
        label=worker.manifest.label,
        version=worker.version,
        source=worker.source,
        location=str(worker.location),
        bundle=worker.manifest.bundle_for(None, script) or "",
    )
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
