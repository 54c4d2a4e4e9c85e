"""What counts as success in an environment: an episode that reached what it was for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    IsSuccess = Callable[[float, bool], bool]
    """From the return of an episode, and whether the environment ended it."""

_END_IS_GOAL = ("CliffWalkingEnv", "TaxiEnv")
"""Every step costs, and nothing but the goal ends an episode."""


def success_rule(env: Any) -> IsSuccess:
    """Elsewhere only a success pays: FrozenLake, Blackjack and MiniGrid reward nothing else."""
    if type(env.unwrapped).__name__ in _END_IS_GOAL:
        return lambda _, terminated: terminated
    return lambda episode_return, _: episode_return > 0
