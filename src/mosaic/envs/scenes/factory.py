"""`scene_for`: creates the scene of a step, for the environments that have one."""

import re
from collections.abc import Mapping
from typing import Any

from mosaic.envs.scenes.minigrid import minigrid_scene
from mosaic.envs.scenes.scene import Scene
from mosaic.envs.scenes.toy_text import (
    blackjack_scene,
    cliff_walking_scene,
    frozen_lake_scene,
    taxi_scene,
)

_VERSION = re.compile(r"-v\d+$")
_MINIGRID_PREFIXES = ("MiniGrid-", "BabyAI-")
_NAMES = (
    "FrozenLake",
    "FrozenLake8x8",
    "CliffWalking",
    "CliffWalkingSlippery",
    "Taxi",
    "Blackjack",
)


def has_scene(env_id: str) -> bool:
    """Return whether the environment has scenes."""
    name = _base_name(env_id)
    return name in _NAMES or name.startswith(_MINIGRID_PREFIXES)


def scene_for(
    env_id: str,
    env_kwargs: Mapping[str, Any] | None,
    observation: Any,
    render: Any = None,
    *,
    action: Any = None,
    is_finished: bool = False,
) -> Scene | None:
    """Return the scene; None for an environment without scenes and for invalid values.

    `observation` and `render` are those of the step or of the episode's start; `action` led to them
    and gives the agent's direction; `is_finished` says whether the episode ended with this step.
    """
    name = _base_name(env_id)
    kwargs = env_kwargs if isinstance(env_kwargs, Mapping) else {}
    if name == "FrozenLake":
        return frozen_lake_scene(kwargs, observation, action)
    if name == "FrozenLake8x8":
        return frozen_lake_scene(kwargs, observation, action, default_map="8x8")
    if name in ("CliffWalking", "CliffWalkingSlippery"):
        return cliff_walking_scene(observation, action)
    if name == "Taxi":
        return taxi_scene(observation, action)
    if name == "Blackjack":
        return blackjack_scene(observation, render, is_finished=is_finished)
    if name.startswith(_MINIGRID_PREFIXES):
        return minigrid_scene(observation, render)
    return None


def _base_name(env_id: str) -> str:
    """Return the id without its module and version."""
    return _VERSION.sub("", env_id.rpartition(":")[2])
