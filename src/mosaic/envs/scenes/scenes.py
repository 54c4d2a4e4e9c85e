"""`scene_for`: from what a step says to a scene, for the environments that have one."""

import re
from collections.abc import Mapping
from typing import Any

from mosaic.envs.scenes.blackjack import blackjack_scene
from mosaic.envs.scenes.cliff_walking import cliff_walking_scene
from mosaic.envs.scenes.frozen_lake import frozen_lake_scene
from mosaic.envs.scenes.minigrid import minigrid_scene
from mosaic.envs.scenes.scene import Scene
from mosaic.envs.scenes.taxi import taxi_scene

_VERSION = re.compile(r"-v\d+$")
_GRID_WORLDS = ("MiniGrid-", "BabyAI-")
_NAMES = (
    "FrozenLake",
    "FrozenLake8x8",
    "CliffWalking",
    "CliffWalkingSlippery",
    "Taxi",
    "Blackjack",
)


def has_scene(env_id: str) -> bool:
    """Whether steps of such an environment can be drawn as a scene."""
    name = _plain_name(env_id)
    return name in _NAMES or name.startswith(_GRID_WORLDS)


def scene_for(
    env_id: str,
    env_kwargs: Mapping[str, Any] | None,
    observation: Any,
    render: Any = None,
    *,
    action: Any = None,
    is_over: bool = False,
) -> Scene | None:
    """What the environment looks like; None for one without a scene, and for any nonsense.

    `observation` and `render` are those of the step, or of the start of the episode; `action` led
    there and says where the agent looks; `is_over` when the episode ended with it.
    """
    name = _plain_name(env_id)
    made_with = env_kwargs if isinstance(env_kwargs, Mapping) else {}
    if name == "FrozenLake":
        return frozen_lake_scene(made_with, observation, action)
    if name == "FrozenLake8x8":
        return frozen_lake_scene(made_with, observation, action, default_map="8x8")
    if name in ("CliffWalking", "CliffWalkingSlippery"):
        return cliff_walking_scene(observation, action)
    if name == "Taxi":
        return taxi_scene(observation, action)
    if name == "Blackjack":
        return blackjack_scene(observation, render, is_over=is_over)
    if name.startswith(_GRID_WORLDS):
        return minigrid_scene(observation, render)
    return None


def _plain_name(env_id: str) -> str:
    """Without the module that registers it and without the version."""
    return _VERSION.sub("", env_id.rpartition(":")[2])
