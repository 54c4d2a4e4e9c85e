"""Scripts that a worker runs instead of its own algorithms: validation and descriptors.

A script is the absolute path of a file, or a name (`ppo`, `cleanrl.ppo`) that the worker looks up
in the environment of the run. Only the worker reads it.
"""

from pathlib import Path

import msgspec

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import TrainRunConfig
from mosaic.trainer.workers.worker_catalog import NO_SCRIPTS, WorkerCatalog
from mosaic.trainer.workers.worker_description import SCRIPT_NOT_DESCRIBED

SCRIPT_MISSING = "T450"
"""The script of a run does not exist, or is not a file."""
SCRIPT_CODES = (SCRIPT_MISSING, NO_SCRIPTS, SCRIPT_NOT_DESCRIBED)
"""Codes of errors that concern a run's script and not its worker."""


def descriptor_of_run(catalog: WorkerCatalog, config: TrainRunConfig) -> WorkerDescriptor:
    """The worker's descriptor; for a run with a script, with that as its only algorithm.

    Without an algorithm if a script's name cannot be resolved before the run's environment is
    installed: the worker resolves it, or fails. Raises `UserError`.
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
    """Whether it is a path, and not the name of a module or of one of the worker's scripts."""
    return "/" in script or script.endswith(".py")


def check_script_file(script: str) -> None:
    """Raise T450 when the script does not exist, or its path is not absolute."""
    path = Path(script)
    if not path.is_absolute():
        raise UserError(
            f"`script`: {script} must be an absolute path, because a run has its own folder.",
            remedy="Use the absolute path.",
            code=SCRIPT_MISSING,
        )
    try:
        exists = path.is_file()
    except OSError:
        exists = False  # such as a name that is too long
    if not exists:
        others = _neighbours(path)
        hint = f" That folder has {', '.join(others)}." if others else ""
        raise UserError(
            f"`script`: the file {script} does not exist.",
            remedy=f"Correct the path.{hint}",
            code=SCRIPT_MISSING,
        )


_MAX_NEIGHBOURS = 8


def _neighbours(path: Path) -> list[str]:
    try:
        return sorted(file.name for file in path.parent.glob("*.py"))[:_MAX_NEIGHBOURS]
    except OSError:
        return []
