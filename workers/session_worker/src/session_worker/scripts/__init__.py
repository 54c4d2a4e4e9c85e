"""Built-in scripts: simple rules that play some environments well.

Each module contains one, and is an example for authors of actors.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPTS = {
    "blackjack": "BlackjackPlayer",
    "cart_pole": "PoleBalancer",
    "lunar_lander": "LanderPilot",
    "mountain_car": "SwingDriver",
    "planner": "Planner",
}
"""Modules of this package, and the class in each."""

_FOR_ENVIRONMENT = {
    "Blackjack": "blackjack",
    "CartPole": "cart_pole",
    "CliffWalking": "planner",
    "FrozenLake": "planner",
    "FrozenLake8x8": "planner",
    "LunarLander": "lunar_lander",
    "LunarLanderContinuous": "lunar_lander",
    "MountainCar": "mountain_car",
    "MountainCarContinuous": "mountain_car",
    "Taxi": "planner",
}


def find_script(name: str) -> Callable[[Any], Any] | None:
    """Return the class of the script with this name, or None."""
    if name not in SCRIPTS:
        return None
    script: Callable[[Any], Any] = getattr(import_module(f"{__name__}.{name}"), SCRIPTS[name])
    return script


def find_script_for(env: Any) -> Callable[[Any], Any]:
    """Return the script for this environment. Raises WorkerError if there is none."""
    env_id = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    name_without_version = env_id.rpartition("/")[2].rpartition("-v")[0]
    script = find_script(_FOR_ENVIRONMENT.get(name_without_version, ""))
    if script is None:
        raise WorkerError(
            f"There is no built-in script for {env_id}.",
            remedy=f"Write one (docs/writing-an-actor.md), or play {_list_environments()}.",
        )
    return script


def _list_environments() -> str:
    *others, last = sorted(_FOR_ENVIRONMENT)
    return f"{', '.join(others)} or {last}"
