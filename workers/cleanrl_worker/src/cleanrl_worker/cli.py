"""`python -m cleanrl_worker --config FILE`: train, play, evaluate, or run a script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cleanrl_worker import __version__
from cleanrl_worker.learner_catalog import read_learners
from mosaic_worker import Descriptor, Environments, Needs, Parameter, Supports, main
from mosaic_worker.play import PARAMETERS

if TYPE_CHECKING:
    from mosaic_worker import Algorithm, Run, RunConfig

SAMPLED_ACTIONS = Parameter(
    "sampled_actions", "bool", False, group="Playing",
    help="Sample actions as in training instead of taking the best.",
)  # fmt: skip


def describe() -> Descriptor:
    """Return the descriptor; algorithms and parameters are read from the learners' files."""
    algorithms = tuple(
        learner._replace(parameters=(*learner.parameters, SAMPLED_ACTIONS, *PARAMETERS))
        for learner in read_learners()
    )
    return Descriptor(
        worker="cleanrl_worker",
        label="CleanRL Worker",
        version=__version__,
        summary="Trains with readable single-file learners, or with your own CleanRL scripts.",
        lane="analytics",
        modes=("train", "play", "evaluate"),
        algorithms=algorithms,
        environments=Environments(any=True),
        supports=Supports(
            policy_load=True,
            warm_start=True,
            resume=True,
            pause=True,
            checkpoints=True,
            minimal_telemetry=True,
        ),
        needs=Needs(
            bundle="cleanrl_worker",
            extras=("atari", "mujoco", "minigrid", "video", "wandb", "hub"),
            credentials=("WANDB_API_KEY", "HF_TOKEN"),
        ),
        licence=("MIT",),
    )


def work(run: Run) -> int | None:
    """Torch is imported only by the modes that need it."""
    if run.config.raw.get("script"):
        from cleanrl_worker.upstream.script import run_script  # noqa: PLC0415

        return run_script(run)
    if run.config.mode == "train":
        from cleanrl_worker.training import train  # noqa: PLC0415

        train(run)
    else:
        from cleanrl_worker.playing import play_checkpoint  # noqa: PLC0415

        play_checkpoint(run)
    return None


def plan(config: RunConfig) -> dict[str, Any]:
    """Return the worker's own fields of a dry run's summary."""
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
