"""Always takes the same action: a minimal worker with a play mode."""

from __future__ import annotations

import sys
from typing import Any

from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Run, Supports, main
from mosaic_worker.play import PARAMETERS, play

DESCRIPTOR = Descriptor(
    worker="steady_worker",
    label="Steady Worker",
    version="1.0",
    summary="Always takes the same action.",
    modes=("play",),
    algorithms=(Algorithm(id="steady", label="Steady", parameters=PARAMETERS),),
    environments=Environments(families=("toy-text",)),
    supports=Supports(pause=True),
    needs=Needs(bundle="session_worker"),
)


class Steady:
    """The policy."""

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - interface
        return 2


def work(run: Run) -> None:
    play(run, Steady())


sys.exit(main(DESCRIPTOR, work))
