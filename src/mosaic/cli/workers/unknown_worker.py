"""A worker that the daemon does not know, and when that is only because it has not looked again."""

from collections.abc import Iterator
from contextlib import contextmanager

from mosaic.cli.workers.worker_folders import WorkerFolders
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

_NO_SUCH_WORKER = "T130"


def is_unknown_worker(error: UserError) -> bool:
    """Whether the daemon said that there is no such worker."""
    return error.code == _NO_SUCH_WORKER


@contextmanager
def found_after_a_restart(home: Home, worker: str) -> Iterator[None]:
    """Says so where the settings name a folder with this worker and the daemon is older than that.

    Any other error passes through.
    """
    try:
        yield
    except UserError as error:
        place = WorkerFolders(home).place_of(worker) if is_unknown_worker(error) else None
        if place is None:
            raise
        raise UserError(
            f"The daemon does not know {worker} yet, which is in {place}.",
            remedy="Run `mosaic daemon stop`; the next one finds it, and runs go on meanwhile.",
            code=error.code,
        ) from error
