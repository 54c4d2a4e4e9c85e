"""`python -m …`: the process that talks to Weights & Biases; `WandbRun` starts it.

Standard input: the order, then a row `[step, values]` per line; its end is the run's end. Standard
output: one line with what was started, or with a problem.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker says when it is over
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever wandb prints is for the run's log
    try:
        _track(json.loads(sys.stdin.readline()), answers)
    except Exception as error:  # noqa: BLE001 - the process's edge; wandb raises anything
        print(json.dumps({"problem": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
        sys.exit(1)


def _track(order: dict[str, Any], answers: Any) -> None:
    import wandb  # noqa: PLC0415 - takes long

    tracked = wandb.init(
        dir=order["directory"],
        mode=order["mode"],
        project=order["project"],
        entity=order["entity"],
        name=order["name"],
        group=order["group"],
        config=order["config"],
    )
    folder = os.path.dirname(tracked.dir)  # noqa: PTH120 - wandb's own text
    started = {"run_id": tracked.id, "path": folder, "url": tracked.url}
    print(json.dumps(started), file=answers, flush=True)
    for line in sys.stdin:
        step, values = json.loads(line)
        tracked.log({**values, "global_step": step}, step=step)
    tracked.finish()


if __name__ == "__main__":
    main()
