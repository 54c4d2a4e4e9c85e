"""Always takes the action in the checkpoint: a minimal worker that plays with a saved policy."""

from __future__ import annotations

import json
import sys
from typing import Any

from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Run, Supports, main
from mosaic_worker.errors import WorkerError
from mosaic_worker.play import PARAMETERS, play

DESCRIPTOR = Descriptor(
    worker="learned_worker",
    label="Learned Worker",
    version="1.0",
    summary="Takes the action in its checkpoint.",
    modes=("play",),
    algorithms=(Algorithm(id="learned", label="Learned", parameters=PARAMETERS),),
    environments=Environments(any=True),
    supports=Supports(pause=True, policy_load=True),
    needs=Needs(bundle="session_worker"),
)


class Learned:
    """The policy."""

    def __init__(self, action: int) -> None:
        self._action = action

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - interface
        return self._action


def work(run: Run) -> None:
    if run.checkpoint is None:
        raise WorkerError(
            "Playing a policy requires a checkpoint.", remedy="Select a checkpoint as the actor."
        )
    play(run, Learned(json.loads(run.checkpoint.read_bytes())))


sys.exit(main(DESCRIPTOR, work))
