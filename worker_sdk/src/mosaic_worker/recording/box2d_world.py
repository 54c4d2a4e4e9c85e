"""Gives a Box2D environment a new world before a reset.

BipedalWalker, and LunarLander before gymnasium 1.0, put every episode into the same world, which
keeps traces of the ones before: the same actions then lead elsewhere.
"""

from __future__ import annotations

from typing import Any

_HOME = "gymnasium.envs.box2d."


def keeps_world(unwrapped: Any) -> bool:
    """Whether the environment is one of gymnasium's own in Box2D."""
    is_box2d = any(base.__module__.startswith(_HOME) for base in type(unwrapped).__mro__)
    return is_box2d and hasattr(unwrapped, "world") and hasattr(unwrapped, "_destroy")


def renew_world(unwrapped: Any) -> None:
    """An empty world of the same gravity; the reset that follows fills it."""
    old = unwrapped.world
    unwrapped._destroy()  # noqa: SLF001 - bodies must go while their world is still there
    unwrapped.world = type(old)(gravity=old.gravity)
