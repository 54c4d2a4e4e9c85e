"""Which extra of the bundle brings an environment whose package is missing."""

from __future__ import annotations

import importlib.util
import re

from mosaic_worker.errors import WorkerError

_PACKAGE_OF_EXTRA = {"atari": "ale_py", "mujoco": "mujoco", "minigrid": "minigrid"}
_IDS = {
    "atari": re.compile(r"ALE/|\w+(NoFrameskip|Deterministic)-v\d$|\w+-ram"),
    "minigrid": re.compile(r"MiniGrid-|BabyAI-"),
    "mujoco": re.compile(
        r"(Ant|HalfCheetah|Hopper|Humanoid|HumanoidStandup|InvertedDoublePendulum"
        r"|InvertedPendulum|Pusher|Reacher|Swimmer|Walker2d)-v\d$"
    ),
}


def with_extra_named(env_id: str, error: WorkerError) -> WorkerError:
    """`error`, or one that names the extra when that is what the environment lacks."""
    for extra, ids in _IDS.items():
        is_missing = importlib.util.find_spec(_PACKAGE_OF_EXTRA[extra]) is None
        if ids.match(env_id) and is_missing:
            return WorkerError(
                f"{env_id} needs the extra `{extra}` of the bundle, which is not installed.",
                remedy=f"Start the run with it: `mosaic train … --extra {extra}`.",
            )
    return error
