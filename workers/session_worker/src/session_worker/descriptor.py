"""What the session worker says about itself: one algorithm for each kind of actor.

A run's `algo` says who begins; its `actor` may say so more exactly (`scripted:my_bots:Cautious`).
"""

from __future__ import annotations

from pathlib import Path

from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Parameter, Supports
from mosaic_worker.play import HUMAN, PARAMETERS
from session_worker import __version__

RANDOM, SCRIPTED, RECORDED = "random", "scripted", "recorded"

_SCRIPT = Parameter(
    "script", "str", "", group="Actor",
    help="module:attribute or /path/file.py:attribute of an actor. "
    "Empty: the one that comes with MOSAIC for the environment.",
)  # fmt: skip

_RECORDING = Parameter(
    "recording", "str", "", group="Actor",
    help="The file of a recorded episode (JSON with `env_id`, `seed` and `actions`).",
)  # fmt: skip


def _page(actor: str) -> str:
    return Path(__file__).with_name(f"{actor}.md").read_text(encoding="utf-8")


DESCRIPTOR = Descriptor(
    worker="session_worker",
    label="Session Worker",
    version=__version__,
    summary="Hosts an environment in which a person, an agent, or both in turns act.",
    modes=("play", "evaluate"),
    algorithms=(
        Algorithm(
            id=HUMAN,
            label="Human-Only",
            doc="You act, with keys, mouse or gamepad.",
            parameters=PARAMETERS,
            page=_page(HUMAN),
        ),
        Algorithm(
            id=RANDOM,
            label="Random",
            doc="Any action, each as likely as the others; the same seed gives the same ones.",
            parameters=PARAMETERS,
            page=_page(RANDOM),
        ),
        Algorithm(
            id=SCRIPTED,
            label="Scripted",
            doc="A rule written in Python: your own, or one that comes with MOSAIC.",
            parameters=(_SCRIPT, *PARAMETERS),
            page=_page(SCRIPTED),
        ),
        Algorithm(
            id=RECORDED,
            label="Recorded",
            doc="The actions of a recorded episode, one after the other.",
            parameters=(_RECORDING, *PARAMETERS),
            page=_page(RECORDED),
        ),
    ),
    environments=Environments(any=True),
    supports=Supports(pause=True),
    needs=Needs(bundle="session_worker"),
    licence=("MIT",),
)
