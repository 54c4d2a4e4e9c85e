"""Reports a score that increases by `slope` per point.

Other shapes: `fall` reports a falling score and never ends, `nan` a score that is not a number,
`crash` fails at once.
"""

from __future__ import annotations

import math
import sys

from mosaic_worker import (
    Algorithm,
    Descriptor,
    Environments,
    Needs,
    Parameter,
    Run,
    Supports,
    WorkerError,
    main,
)

DESCRIPTOR = Descriptor(
    worker="slope_worker",
    label="Slope Worker",
    version="1.0",
    summary="Reports an increasing score.",
    algorithms=(
        Algorithm(
            id="slope",
            label="Slope",
            parameters=(
                Parameter("slope", "float", 1.0, min=-100, max=100, search=(-5.0, 5.0)),
                Parameter("size", "int", 16, min=1, max=1024, search=(1, 512), log=True),
                Parameter("shape", "choice", "line", choices=("line", "fall", "nan", "crash")),
                Parameter("points", "int", 5, min=1, max=100_000),
                Parameter("pause_s", "float", 0.0, min=0.0, max=60.0),
            ),
        ),
    ),
    environments=Environments(any=True),
    supports=Supports(pause=True),
    needs=Needs(),
)


def work(run: Run) -> None:
    params = run.config.params
    shape = params["shape"]
    if shape == "crash":
        raise WorkerError("It was configured to crash.", remedy="Choose another shape.")
    for point in range(1, params["points"] + 1):
        run.wait_while_paused()
        if run.wait(params["pause_s"]) or run.should_stop:
            return
        score = {"fall": -point, "nan": math.nan}.get(shape, params["slope"] * point)
        run.emitter.metric("score", score + run.config.seed / 1000, step=point * 10)
    while shape == "fall" and not run.wait(0.02):
        run.wait_while_paused()


sys.exit(main(DESCRIPTOR, work))
