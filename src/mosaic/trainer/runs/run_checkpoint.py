"""Which file a run begins from, or plays with."""

from pathlib import Path

from mosaic.contract.ids import is_ulid
from mosaic.contract.run_config import TrainRunConfig
from mosaic.trainer.storage.checkpoints import Checkpoints


def checkpoint_of(config: TrainRunConfig, checkpoints: Checkpoints) -> Path | None:
    """The checkpoint that `warm_start` or `actor` names; None when neither names one.

    Raises `UserError` for one that is not there. Any other `actor` is a name of the worker's own.
    """
    if config.warm_start is not None:
        return checkpoints.path(config.warm_start)
    actor = config.actor or ""
    return checkpoints.path(actor) if is_ulid(actor.partition(".")[0]) else None
