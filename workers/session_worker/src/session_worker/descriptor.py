"""The descriptor of the session worker: one algorithm per kind of actor.

The first actor is the run's `algo`, or its `actor` if set (`scripted:my_bots:Cautious`).
"""

from __future__ import annotations

from pathlib import Path

from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Parameter, Supports
from mosaic_worker.play import HUMAN, PARAMETERS
from session_worker import __version__

RANDOM, SCRIPTED, RECORDED = "random", "scripted", "recorded"

_SCRIPT = Parameter(
    "script", "str", "", group="Actor",
    help="Actor as module:attribute or /path/file.py:attribute. "
    "Default: the built-in script of the environment.",
)  # fmt: skip

_RECORDING = Parameter(
    "recording", "str", "", group="Actor",
    help="File of a recorded episode (JSON with `env_id`, `seed` and `actions`).",
)  # fmt: skip


def _page(actor: str) -> str:
    return Path(__file__).with_name(f"{actor}.md").read_text(encoding="utf-8")


DESCRIPTOR = Descriptor(
    worker="session_worker",
    label="Session Worker",
    version=__version__,
    summary="Runs an environment in which a human, a policy, or both in turns act.",
    modes=("play", "evaluate"),
    algorithms=(
        Algorithm(
            id=HUMAN,
            label="Human-Only",
            doc="You act with keyboard, mouse or gamepad.",
            parameters=PARAMETERS,
            page=_page(HUMAN),
        ),
        Algorithm(
            id=RANDOM,
            label="Random",
            doc="Uniformly random actions, reproducible by the seed.",
            parameters=PARAMETERS,
            page=_page(RANDOM),
        ),
        Algorithm(
            id=SCRIPTED,
            label="Scripted",
            doc="A Python script: your own, or a built-in one.",
            parameters=(_SCRIPT, *PARAMETERS),
            page=_page(SCRIPTED),
        ),
        Algorithm(
            id=RECORDED,
            label="Recorded",
            doc="The actions of a recorded episode, in order.",
            parameters=(_RECORDING, *PARAMETERS),
            page=_page(RECORDED),
        ),
    ),
    environments=Environments(any=True),
    supports=Supports(pause=True),
    needs=Needs(bundle="session_worker"),
    licence=("MIT",),
)
