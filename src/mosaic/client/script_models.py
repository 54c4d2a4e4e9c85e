"""Models that a person's own script saved: listed like any checkpoint, but no worker loads them.

The command line and `ActorService` ask here before they offer a checkpoint as an actor.
"""

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.storage import CheckpointRecord

SCRIPT_MODEL = "C251"
"""A model that a script saved cannot be played or evaluated: only the script can load it."""
ONLY_ITS_SCRIPT = "This model was saved by a script; only the script can load it."
_REMEDY = "Train with one of the worker's own algorithms to play and evaluate what it learns."


class ScriptModelError(UserError):
    """Somebody wants to use a script's model in another way than by its script."""

    def __init__(self) -> None:
        super().__init__(ONLY_ITS_SCRIPT, remedy=_REMEDY, code=SCRIPT_MODEL)


def is_of_script(checkpoint: CheckpointRecord) -> bool:
    """By what its worker tells of it; a run that trained without an algorithm ran a script."""
    try:
        meta = msgspec.json.decode(checkpoint.meta_json)
    except msgspec.MsgspecError:
        meta = {}
    is_said = isinstance(meta, dict) and meta.get("source") == "script"
    return is_said or (checkpoint.source == "run" and not checkpoint.algo)
