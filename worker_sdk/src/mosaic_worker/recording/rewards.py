"""Rewards as environments give them, and as the protocol has them."""

from __future__ import annotations

from typing import Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.scalars import LARGEST_NUMBER, LOWEST_NUMBER, number


def is_constant(reward: Any) -> bool:
    """Whether it is a number that nobody can change, so that there is time to make it plain."""
    if isinstance(reward, (int, float)):
        return not isinstance(reward, bool)
    return hasattr(reward, "item") and not hasattr(reward, "__setitem__")  # a scalar of numpy


def added_up(rewards: list[Any]) -> tuple[int | float, list[Any]]:
    """The sum of constant rewards, and the rewards in plain numbers.

    One of numpy's types, or one that is too large for the store, shows in the sum. Never raises.
    """
    try:
        total: Any = sum(rewards)
    except (OverflowError, TypeError, ValueError):
        total = None
    kind = total.__class__
    if (kind is float or kind is int) and LOWEST_NUMBER <= total <= LARGEST_NUMBER:
        return total, rewards
    plain = [_plain(reward) for reward in rewards]
    return sum(plain), plain


def _plain(reward: Any) -> int | float:
    try:
        return number("reward", reward)
    except WorkerError:
        return float("nan")
