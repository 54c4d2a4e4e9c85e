"""`python -m session_worker --config FILE`."""

from __future__ import annotations

import sys

from mosaic_worker import Run, main
from session_worker.descriptor import DESCRIPTOR


def work(run: Run) -> None:
    from mosaic_worker.play import play  # noqa: PLC0415 - not needed by --describe
    from session_worker.actors import SessionActors  # noqa: PLC0415

    play(run, SessionActors(run), name=run.config.algo)


sys.exit(main(DESCRIPTOR, work))
