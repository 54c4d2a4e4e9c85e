"""Workers in folders: the checkout's own, and those in folders that a setting names."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import mosaic
from mosaic.contract.worker_manifest import WORKER_MANIFEST
from mosaic.trainer.workers.file_shortage import expect_no_shortage

CHECKOUT_WORKERS = Path(mosaic.__file__).parents[2] / "workers"
"""The workers that come with a checkout; absent from an installed distribution."""


def manifests_in(folders: Sequence[Path]) -> Iterator[Path]:
    """Every `worker.toml` in the folders: of workers below each, or of the folder itself."""
    for folder in folders:
        own = folder / WORKER_MANIFEST
        if own.is_file():
            yield own
            continue
        try:
            children = sorted(folder.iterdir())
        except OSError as error:
            expect_no_shortage(error)
            continue  # a folder that is not there has no workers
        for child in children:
            if not child.name.startswith(".") and (child / WORKER_MANIFEST).is_file():
                yield child / WORKER_MANIFEST
