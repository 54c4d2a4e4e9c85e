"""Creates the environments of a learner, and flattens observations into one array."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING, Any

import gymnasium as gym
from gymnasium import spaces

from cleanrl_worker.environments.same_step_vector import SameStepVector
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    OnMade = Callable[[Any, int], Any]
    """Called with the result of `gymnasium.make` and its index; returns it, or a wrapper."""

_PACKAGE_OF_EXTRA = {"atari": "ale_py", "mujoco": "mujoco", "minigrid": "minigrid"}
_ENV_IDS_OF_EXTRA = {
    "atari": re.compile(r"ALE/|\w+(NoFrameskip|Deterministic)-v\d$|\w+-ram"),
    "minigrid": re.compile(r"MiniGrid-|BabyAI-"),
    "mujoco": re.compile(
        r"(Ant|HalfCheetah|Hopper|Humanoid|HumanoidStandup|InvertedDoublePendulum"
        r"|InvertedPendulum|Pusher|Reacher|Swimmer|Walker2d)-v\d$"
    ),
}


def make_vector_env(
    env_id: str,
    env_kwargs: Mapping[str, Any],
    num_envs: int,
    wrap: Callable[[Any], Any],
    *,
    on_made: OnMade | None = None,
    renders_first: bool = False,
    reports_every_end: bool = True,
) -> SameStepVector:
    """Make `num_envs` environments, the first one with frames if `renders_first`.

    Raises `WorkerError`.
    """
    envs = []
    for index in range(num_envs):
        render_mode = "rgb_array" if renders_first and index == 0 else None
        try:
            env = make_environment(env_id, env_kwargs, render_mode=render_mode)
        except WorkerError as error:
            if render_mode is None or not isinstance(error.__cause__, TypeError):
                raise _explain_missing_extra(env_id, error) from error.__cause__
            # The environment has no render_mode, which the renderer reports.
            env = make_environment(env_id, env_kwargs)
        if on_made is not None:
            env = on_made(env, index)
        envs.append(wrap(env))
    return SameStepVector(envs, reports_every_end=reports_every_end)


def flatten_observation(env: Any) -> Any:
    """Wrap `env` so that observations are one flat array, for networks without convolutions."""
    space = env.observation_space
    if isinstance(space, spaces.Dict) and {"image", "mission"} <= set(space.spaces):
        # MiniGrid: the mission is a text, which is constant in most tasks.
        env = gym.wrappers.FilterObservation(env, ["image", "direction"])
        space = env.observation_space
    is_flat = isinstance(space, spaces.Box) and len(space.shape) == 1
    return env if is_flat else gym.wrappers.FlattenObservation(env)


def _explain_missing_extra(env_id: str, error: WorkerError) -> WorkerError:
    """Return `error`, or one that names the bundle's extra that the environment needs."""
    for extra, env_ids in _ENV_IDS_OF_EXTRA.items():
        is_missing = importlib.util.find_spec(_PACKAGE_OF_EXTRA[extra]) is None
        if env_ids.match(env_id) and is_missing:
            return WorkerError(
                f"{env_id} needs the extra `{extra}` of the bundle, which is not installed.",
                remedy=f"Start the run with `mosaic train … --extra {extra}`.",
            )
    return error
