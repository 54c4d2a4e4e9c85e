"""Scripts that a worker runs instead of its own algorithms: what one may be called, and is there.

A script is a file, by its whole path, or a name (`ppo`, `cleanrl.ppo`) that the worker looks up in
the environment of the run. Only the worker reads it.
"""

from pathlib import Path

import msgspec

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import TrainRunConfig
from mosaic.trainer.workers.worker_catalog import NO_SCRIPTS, WorkerCatalog
from mosaic.trainer.workers.worker_description import SCRIPT_NOT_DESCRIBED

SCRIPT_MISSING = "T450"
"""The script of a run is not there, or is no file."""
SCRIPT_CODES = (SCRIPT_MISSING, NO_SCRIPTS, SCRIPT_NOT_DESCRIBED)
"""Of errors that are about a run's script and not about its worker."""


def descriptor_of_run(catalog: WorkerCatalog, config: TrainRunConfig) -> WorkerDescriptor:
    """What the worker says of itself; of a run with a script, with that as its only algorithm.

    A script by name that cannot be found before the run's environment is there leaves none: the
    worker finds it, or says so. Raises `UserError`.
    """
    if config.script is None:
        return catalog.describe(config.worker)
    is_file = is_file_name(config.script)
    if is_file:
        check_script_file(config.script)
    try:
        return catalog.describe(config.worker, config.script)
    except UserError as error:
        if is_file or error.code != SCRIPT_NOT_DESCRIBED:
            raise
    return msgspec.structs.replace(catalog.describe(config.worker), algorithms=())


def is_file_name(script: str) -> bool:
    """Whether a path is meant, and not the name of a module or of one of the worker's scripts."""
    return "/" in script or script.endswith(".py")


def check_script_file(script: str) -> None:
    """Raises T450 when the script is not there, or not where everybody would look for it."""
    path = Path(script)
    if not path.is_absolute():
        raise UserError(
            f"`script`: {script} is no whole path, and a run has a folder of its own.",
            remedy="Give the path from the root on.",
            code=SCRIPT_MISSING,
        )
    try:
        is_there = path.is_file()
    except OSError:
        is_there = False  # a name that is too long, say
    if not is_there:
        others = _neighbours(path)
        hint = f" That folder has {', '.join(others)}." if others else ""
        raise UserError(
            f"`script`: there is no file {script}.",
            remedy=f"Correct the path.{hint}",
            code=SCRIPT_MISSING,
        )


_MAX_NEIGHBOURS = 8


def _neighbours(path: Path) -> list[str]:
    try:
        return sorted(each.name for each in path.parent.glob("*.py"))[:_MAX_NEIGHBOURS]
    except OSError:
        return []
