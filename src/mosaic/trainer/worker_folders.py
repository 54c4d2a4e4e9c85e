"""Finding workers by the `worker.toml` in their folders."""

from pathlib import Path
from typing import NamedTuple

import mosaic
from mosaic.contract.errors import UserError
from mosaic.contract.worker_manifest import WORKER_MANIFEST, WorkerManifest, read_worker_manifest

CHECKOUT_WORKERS = Path(mosaic.__file__).parents[2] / "workers"
"""The workers that come with a checkout; absent from an installed distribution."""


class FoundWorker(NamedTuple):
    """A worker and the folder it lives in."""

    manifest: WorkerManifest
    folder: Path


def find_worker(worker_id: str, workers: Path = CHECKOUT_WORKERS) -> FoundWorker:
    """The worker of that id. Only its own manifest is read."""
    path = workers / worker_id / WORKER_MANIFEST
    if not path.is_file():
        known = sorted(found.parent.name for found in workers.glob(f"*/{WORKER_MANIFEST}"))
        raise UserError(
            f"There is no worker '{worker_id}' in {workers}.",
            remedy=f"Workers there: {', '.join(known) or 'none'}.",
            code="T130",
        )
    return FoundWorker(read_worker_manifest(path), path.parent)
