"""The list of workers for clients. Called by the service."""

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.readiness import WorkerInfo
from mosaic.trainer.workers.found_worker import BrokenWorker, FoundWorker
from mosaic.trainer.workers.run_scripts import check_script_file, is_file_name
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

_MAX_CONCURRENT = 4


class Readiness(Protocol):
    """The part of the bundle store that the list needs."""

    def is_ready(self, worker_id: str, script: str | None = None) -> bool:
        """Whether the environment of the worker or its script is installed, or not needed."""


def worker_infos(catalog: WorkerCatalog, bundles: Readiness) -> list[WorkerInfo]:
    """All workers by id. New ones are described, a few at a time."""
    workers = catalog.scan()
    with ThreadPoolExecutor(_MAX_CONCURRENT, thread_name_prefix="describe") as pool:
        return list(pool.map(lambda worker: _info(worker, catalog, bundles), workers))


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
