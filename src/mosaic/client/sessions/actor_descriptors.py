"""ActorDescriptor: an actor as a list of actors shows it, and which checkpoints can act."""

from typing import Literal

import msgspec

from mosaic.contract.descriptor import Environments
from mosaic.contract.errors import UserError
from mosaic.contract.storage import CheckpointRecord

HUMAN = "human"
RANDOM = "random"
SCRIPTED = "scripted"
RECORDED = "recorded"

_SESSION_ACTORS = (HUMAN, RANDOM, SCRIPTED, RECORDED)

SCRIPT_MODEL = "C251"
"""A model that was saved by a script cannot be played or evaluated: only the script can load it."""
SCRIPT_MODEL_TEXT = "This model was saved by a script; only the script can load it."
_SCRIPT_MODEL_REMEDY = "Train with one of the worker's algorithms to play and evaluate the policy."


class ActorDescriptor(msgspec.Struct, kw_only=True, frozen=True):
    """Identity, capabilities, supported environments and availability of an actor."""

    id: str
    label: str
    description: str = ""
    capabilities: tuple[str, ...] = ()
    """For example `takeover`, `learns`, `loads policies`."""
    environments: Environments = Environments(any=True)
    source: Literal["builtin", "worker", "checkpoint"]
    worker: str
    """The worker in whose process the actor runs."""
    algo: str = ""
    checkpoint_id: str = ""
    """The saved policy that the actor uses."""
    is_available: bool = True
    problem: str = ""
    """Why the actor is not available, in general or in this environment."""
    remedy: str = ""


def is_session_worker_actor(actor: str) -> bool:
    """Return whether the session worker itself provides the actor."""
    return actor.partition(":")[0] in _SESSION_ACTORS


def is_script_model(checkpoint: CheckpointRecord) -> bool:
    """Return whether a script saved the checkpoint, so that no worker can load it.

    A run that trained without an algorithm ran a script.
    """
    try:
        meta = msgspec.json.decode(checkpoint.meta_json)
    except msgspec.MsgspecError:
        meta = {}
    is_declared = isinstance(meta, dict) and meta.get("source") == "script"
    return is_declared or (checkpoint.source == "run" and not checkpoint.algo)


def script_model_error() -> UserError:
    """Return the error for playing or evaluating a script's model."""
    return UserError(SCRIPT_MODEL_TEXT, remedy=_SCRIPT_MODEL_REMEDY, code=SCRIPT_MODEL)
