"""What the CleanRL worker says about itself; its algorithms speak for themselves."""

from __future__ import annotations

from cleanrl_worker import __version__
from cleanrl_worker.learner_catalog import read_learners
from mosaic_worker import Descriptor, Environments, Needs, Parameter, Supports
from mosaic_worker.play import PARAMETERS

SAMPLED_ACTIONS = Parameter(
    "sampled_actions", "bool", False, group="Playing",
    help="Act by chance, as in training, instead of always taking what seems best.",
)  # fmt: skip


def describe() -> Descriptor:
    """Reads the learners' files."""
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
