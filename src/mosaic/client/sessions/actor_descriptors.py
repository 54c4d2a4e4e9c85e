"""ActorDescriptor: one who can act in a session, as a list of actors shows it."""

from typing import Literal

import msgspec

from mosaic.contract.descriptor import Environments

HUMAN = "human"
RANDOM = "random"
SCRIPTED = "scripted"
RECORDED = "recorded"

_SESSION_ACTORS = (HUMAN, RANDOM, SCRIPTED, RECORDED)


class ActorDescriptor(msgspec.Struct, kw_only=True, frozen=True):
    """Who it is, what it can do, where, and whether it can now."""

    id: str
    label: str
    description: str = ""
    capabilities: tuple[str, ...] = ()
    """Such as `takeover`, `learns`, `needs a checkpoint`."""
    environments: Environments = Environments(any=True)
    source: Literal["builtin", "worker", "checkpoint"]
    worker: str
    """The worker whose process it acts in."""
    algo: str = ""
    checkpoint_id: str = ""
    """The saved policy that acts."""
    is_available: bool = True
    problem: str = ""
    """Why it cannot act, here or in this environment."""
    remedy: str = ""


def is_of_session_worker(actor: str) -> bool:
    """Whether the session worker itself has such an actor: no other worker is needed for it."""
    return actor.partition(":")[0] in _SESSION_ACTORS
