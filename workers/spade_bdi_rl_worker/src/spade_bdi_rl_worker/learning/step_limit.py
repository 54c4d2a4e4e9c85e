"""Environments whose episodes end: with a limit of steps where they have none of their own.

Actions that are best so far can lead in circles, and CliffWalking would be played for ever. The
limit is part of the environment, so an episode that it cuts is truncated, and replays as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.factory import resolved_kwargs
from mosaic_worker.environments.inspection import time_limit
from spade_bdi_rl_worker.learning.environment_making import made_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

_WHERE_NONE_IS = 2_000


def make_limited(env_id: str, env_kwargs: Mapping[str, Any], most_steps: int) -> Any:
    """The environment; `most_steps` of 0 leaves its own limit, if it has one."""
    env = made_environment(env_id, env_kwargs, most_steps or None)
    if time_limit(env) is not None:
        return env
    made_with = resolved_kwargs(env)
    env.close()
    return made_environment(env_id, made_with, _WHERE_NONE_IS)


def limited_kwargs(env_id: str, env_kwargs: Mapping[str, Any], most_steps: int) -> dict[str, Any]:
    """With these, whoever makes the environment gets one whose episodes end."""
    if most_steps:
        return {**env_kwargs, "max_episode_steps": most_steps}
    env = made_environment(env_id, env_kwargs)
    has_limit = time_limit(env) is not None
    env.close()
    return dict(env_kwargs) if has_limit else {**env_kwargs, "max_episode_steps": _WHERE_NONE_IS}
