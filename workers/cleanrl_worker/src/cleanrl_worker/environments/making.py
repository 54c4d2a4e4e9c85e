"""Makes the environments of a learner, with the wrappers that make observations one array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
from gymnasium import spaces

from cleanrl_worker.environments.extras import with_extra_named
from cleanrl_worker.environments.same_step_vector import SameStepVector
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Made = Callable[[Any, int], Any]
    """Called with what `gymnasium.make` returned and its place; returns it or a wrapper of it."""


def make_vector(
    env_id: str,
    env_kwargs: Mapping[str, Any],
    num_envs: int,
    wrap: Callable[[Any], Any],
    *,
    on_made: Made | None = None,
    draws_first: bool = False,
    reports_every_end: bool = True,
) -> SameStepVector:
    """`num_envs` environments; `draws_first`: the first one can be drawn. Raises `WorkerError`."""
    envs = []
    for index in range(num_envs):
        render_mode = "rgb_array" if draws_first and index == 0 else None
        try:
            env = make_environment(env_id, env_kwargs, render_mode=render_mode)
        except WorkerError as error:
            if render_mode is None or not isinstance(error.__cause__, TypeError):
                raise with_extra_named(env_id, error) from error.__cause__
            env = make_environment(env_id, env_kwargs)  # it cannot be drawn; whoever draws says so
        if on_made is not None:
            env = on_made(env, index)
        envs.append(wrap(env))
    return SameStepVector(envs, reports_every_end=reports_every_end)


def one_array(env: Any) -> Any:
    """Observations as one flat array of numbers, for networks without convolutions."""
    space = env.observation_space
    if isinstance(space, spaces.Dict) and {"image", "mission"} <= set(space.spaces):
        # MiniGrid: the mission is a text, which is the same in every episode of most tasks.
        env = gym.wrappers.FilterObservation(env, ["image", "direction"])
        space = env.observation_space
    is_flat = isinstance(space, spaces.Box) and len(space.shape) == 1
    return env if is_flat else gym.wrappers.FlattenObservation(env)


def clipped_actions(env: Any) -> Any:
    """Actions beyond the space's bounds are moved onto them."""
    return gym.wrappers.ClipAction(env)
