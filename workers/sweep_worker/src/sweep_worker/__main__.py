"""`python -m sweep_worker --config FILE`."""

from __future__ import annotations

import sys

from mosaic_worker import Run, main
from sweep_worker.descriptor import DESCRIPTOR


def work(run: Run) -> None:
    from sweep_worker.startup import sweep  # noqa: PLC0415 - it imports Optuna and the client

    sweep(run)


sys.exit(main(DESCRIPTOR, work))
