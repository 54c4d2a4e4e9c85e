"""Presets: hyperparameters per environment, used for parameters that the user does not set.

Tested with several seeds; the README lists the results. Needs no gymnasium.
"""

from __future__ import annotations

from typing import Any

Values = dict[str, Any]

DEFAULT: Values = {
    "episodes": 20_000,
    "learning_rate": 0.1,
    "learning_rate_end": 0.01,
    "discount": 0.99,
    "epsilon_start": 1.0,
    "epsilon_end": 0.02,
    "epsilon_fraction": 0.6,
    "initial_value": 0.0,
    "goal_success_rate": 1.0,
}
"""For environments without a preset."""

_NOT_SLIPPERY_LAKE: Values = {
    "episodes": 2_000,
    "learning_rate": 0.8,
    "learning_rate_end": 0.8,
    "epsilon_fraction": 0.5,
}
_CUSTOM_NOT_SLIPPERY_LAKE: Values = {
    **_NOT_SLIPPERY_LAKE,
    "episodes": 3_000,
    # Random actions do not find the goal of a large map; optimistic initial values do.
    "initial_value": 1.0,
    "epsilon_start": 0.1,
    "epsilon_end": 0.0,
}
_SLIPPERY_LAKE: Values = {"learning_rate_end": 0.005, "goal_success_rate": 0.7}
_LARGE_SLIPPERY_LAKE: Values = {**_SLIPPERY_LAKE, "discount": 0.999, "goal_success_rate": 0.8}
_CLIFF: Values = {
    "episodes": 500,
    "learning_rate": 0.5,
    "learning_rate_end": 0.5,
    "discount": 1.0,
    "epsilon_start": 0.1,
    "epsilon_end": 0.0,
    "epsilon_fraction": 0.5,
}
_SLIPPERY_CLIFF: Values = {
    **_CLIFF,
    "episodes": 3_000,
    "learning_rate": 0.2,
    "learning_rate_end": 0.01,
}
_TAXI: Values = {
    "episodes": 5_000,
    "learning_rate": 0.5,
    "learning_rate_end": 0.5,
    "epsilon_start": 0.2,
    "epsilon_end": 0.0,
    "epsilon_fraction": 0.5,
}
_RAINY_TAXI: Values = {
    **_TAXI,
    "episodes": 15_000,
    "learning_rate": 0.3,
    "learning_rate_end": 0.01,
}
_BLACKJACK: Values = {
    "episodes": 50_000,
    "learning_rate": 0.05,
    "learning_rate_end": 0.001,
    "discount": 1.0,
    "epsilon_end": 0.05,
    "epsilon_fraction": 0.8,
    "goal_success_rate": 0.42,
}
_MINIGRID: Values = {
    "episodes": 500,
    "learning_rate": 1.0,
    "learning_rate_end": 1.0,
    "discount": 0.95,
    "epsilon_start": 0.05,
    "epsilon_end": 0.0,
    "epsilon_fraction": 0.5,
    "initial_value": 1.0,
}

RECOMMENDED: dict[str, Values] = {"toy-text": {}, "minigrid": {}}
"""By family, for the form: no values, because presets apply to unset parameters."""


def preset_for(env_id: str, env_kwargs: Values, algo: str) -> Values:
    """Return all values for this environment, its arguments and the algorithm."""
    name = env_id.rpartition("/")[2].rpartition(":")[2]
    values = {**DEFAULT, **_env_preset(name, env_kwargs)}
    if algo == "double_q_learning":
        values["episodes"] *= 2  # each of its two tables learns from half of the steps
    return values


def _env_preset(name: str, env_kwargs: Values) -> Values:
    if name.startswith("FrozenLake"):
        return _lake_preset(name, env_kwargs)
    if name.startswith("CliffWalking"):
        is_slippery = env_kwargs.get("is_slippery", name.startswith("CliffWalkingSlippery"))
        return _SLIPPERY_CLIFF if is_slippery else _CLIFF
    if name.startswith("Taxi"):
        return _RAINY_TAXI if env_kwargs.get("is_rainy") else _TAXI
    if name.startswith("Blackjack"):
        return _BLACKJACK
    return _MINIGRID if name.startswith("MiniGrid") else {}


def _lake_preset(name: str, env_kwargs: Values) -> Values:
    default_map = "8x8" if name.startswith("FrozenLake8x8") else "4x4"
    map_name = None if env_kwargs.get("desc") else env_kwargs.get("map_name", default_map)
    if env_kwargs.get("is_slippery", True):
        return _SLIPPERY_LAKE if map_name == "4x4" else _LARGE_SLIPPERY_LAKE
    return _NOT_SLIPPERY_LAKE if map_name in ("4x4", "8x8") else _CUSTOM_NOT_SLIPPERY_LAKE
