"""Actors that come with MOSAIC: for some environments a simple rule plays well.

Each module is one of them, and an example of how to write one.
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


def built_in(name: str) -> Callable[[Any], Any] | None:
    """What makes the actor of that name, or None."""
    if name not in SCRIPTS:
        return None
    made: Callable[[Any], Any] = getattr(import_module(f"{__name__}.{name}"), SCRIPTS[name])
    return made


def built_in_for(env: Any) -> Callable[[Any], Any]:
    """What makes the actor for this environment; WorkerError when none comes with MOSAIC."""
    env_id = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    game = env_id.rpartition("/")[2].rpartition("-v")[0]
    found = built_in(_FOR_ENVIRONMENT.get(game, ""))
    if found is None:
        raise WorkerError(
            f"No script comes with MOSAIC for {env_id}.",
            remedy=f"Name your own (docs/writing-an-actor.md), or play {_listed()}.",
        )
    return found


def _listed() -> str:
    *most, last = sorted(_FOR_ENVIRONMENT)
    return f"{', '.join(most)} or {last}"
