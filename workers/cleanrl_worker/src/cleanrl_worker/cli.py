"""`python -m cleanrl_worker.cli --config FILE`: trains, plays, evaluates, or runs a script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cleanrl_worker.descriptor import describe
from mosaic_worker import main

if TYPE_CHECKING:
    from mosaic_worker import Algorithm, Run, RunConfig


def work(run: Run) -> int | None:
    """Torch is imported only by what needs it."""
    if run.config.raw.get("script"):
        from cleanrl_worker.upstream.script import run_script  # noqa: PLC0415

        return run_script(run)
    if run.config.mode == "train":
        from cleanrl_worker.training import train  # noqa: PLC0415

        train(run)
    else:
        from cleanrl_worker.playing.checkpoint_player import play_checkpoint  # noqa: PLC0415

        play_checkpoint(run)
    return None


def plan(config: RunConfig) -> dict[str, Any]:
    """What a dry run adds."""
    if config.raw.get("script"):
        from cleanrl_worker.upstream.script import script_plan  # noqa: PLC0415

        return script_plan(config)
    return {"module": f"cleanrl_worker.learners.{config.algo}"}


def describe_script(script: str) -> Algorithm:
    from cleanrl_worker.upstream.script import describe_script as read  # noqa: PLC0415

    return read(script)


def run_worker() -> int:
    return main(describe(), work, plan=plan, describe_script=describe_script)


if __name__ == "__main__":
    sys.exit(run_worker())
