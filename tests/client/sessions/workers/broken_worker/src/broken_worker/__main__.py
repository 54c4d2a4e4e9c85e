"""Supports the play mode, but always fails."""

from __future__ import annotations

import sys

from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Run, main
from mosaic_worker.errors import WorkerError
from mosaic_worker.play import PARAMETERS

DESCRIPTOR = Descriptor(
    worker="broken_worker",
    label="Broken Worker",
    version="1.0",
    modes=("play",),
    algorithms=(Algorithm(id="broken", label="Broken", parameters=PARAMETERS),),
    environments=Environments(any=True),
    needs=Needs(bundle="session_worker"),
)


def work(run: Run) -> None:  # noqa: ARG001 - interface
    raise WorkerError("The policy has no weights.", remedy="Train it first.")


sys.exit(main(DESCRIPTOR, work))
