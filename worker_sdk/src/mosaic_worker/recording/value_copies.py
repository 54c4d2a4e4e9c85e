"""Copies actions, rewards, observations and infos as builtin values, to be written later.

Large arrays are omitted: images are shown as frames, not in telemetry lines. An environment may
compute different results for an action of another type than its action space's, so the type of an
episode's actions is recorded, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.spaces import PYTHON_VALUES
from mosaic_worker.errors import WorkerError
from mosaic_worker.json_values import JsonConverter
from mosaic_worker.scalars import MAX_NUMBER, MIN_NUMBER, to_number

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_OBSERVATION_SIZE = 4096
MAX_INFO_ARRAY_SIZE = 1024
_MAX_TEXT_CHARS = 4096
_MAX_DEPTH = 8
_MAX_NUMBERS_PER_LINE = 20_000

_BUILTIN_SCALARS = frozenset({int, float, bool, type(None)})


class NotPlainError(Exception):
    """The value has no builtin equivalent; the emitter must convert it."""


class _Omitted:
    """Replaces a value that is too large."""


_OMITTED = _Omitted()


def copy_observation(value: Any) -> Any:
    """A copy of `value` as builtin values; None if it is too large. Raises `NotPlainError`."""
    if value.__class__ in _BUILTIN_SCALARS:
        return value
    copied = _copy(value, MAX_OBSERVATION_SIZE, 0)
    return None if copied is _OMITTED else copied


def copy_info(info: Any) -> Any:
    """A copy of `info` as builtin values without large ones; None if it is empty."""
    if not info:
        return None
    if info.__class__ is dict:
        for name, value in info.items():
            if value.__class__ not in _BUILTIN_SCALARS or name.__class__ is not str:
                break
        else:
            return info.copy()
    copied = _copy(info, MAX_INFO_ARRAY_SIZE, 0)
    return None if copied is _OMITTED else copied or None


def _copy(value: Any, max_size: int, depth: int) -> Any:
    kind = value.__class__
    if kind in _BUILTIN_SCALARS:
        return value
    to_list = getattr(value, "tolist", None)
    if to_list is not None:
        return _OMITTED if getattr(value, "size", 1) > max_size else _check_items(to_list())
    if kind is str and len(value) <= _MAX_TEXT_CHARS:
        return value
    if depth < _MAX_DEPTH:
        if kind is dict:
            return _copy_dict(value, max_size, depth)
        if kind is tuple or kind is list:
            return _copy_list(value, max_size, depth)
    raise NotPlainError


def _copy_dict(value: dict[Any, Any], max_size: int, depth: int) -> Any:
    copied = {}
    for name, item in value.items():
        if name.__class__ is not str:
            raise NotPlainError
        plain = _copy(item, max_size, depth + 1)
        if plain is not _OMITTED:
            copied[name] = plain
    return copied


def _copy_list(value: Any, max_size: int, depth: int) -> Any:
    """Copy all items or none, because their positions matter."""
    if len(value) > max_size:
        return _OMITTED
    copied = [_copy(item, max_size, depth + 1) for item in value]
    return _OMITTED if any(item is _OMITTED for item in copied) else copied


def _check_items(plain: Any) -> Any:
    """Return `plain`; raises `NotPlainError` for the objects in an array of dtype object."""
    first = plain
    while first.__class__ is list and first:
        first = first[0]
    if first.__class__ in _BUILTIN_SCALARS or first.__class__ is list or first.__class__ is str:
        return plain
    raise NotPlainError


class ActionCopier:
    """Copies actions that are not ints. `dtype` is that of the first one in an episode."""

    __slots__ = ("_space_dtype", "dtype")

    def __init__(self, space: Any) -> None:
        space_dtype = getattr(space, "dtype", None)
        self._space_dtype = space_dtype if getattr(space_dtype, "kind", "") == "f" else None
        self.dtype: str | None = None

    def __call__(self, action: Any) -> Any:
        """The action as builtin values, independent of the array."""
        to_list: Callable[[], Any] | None = getattr(action, "tolist", None)
        if to_list is None:
            if self._space_dtype is not None and self.dtype is None:
                self.dtype = PYTHON_VALUES
            return (
                action if action.__class__ is float else JsonConverter().convert("action", action)
            )
        space_dtype = self._space_dtype
        if space_dtype is not None and action.dtype != space_dtype and self.dtype is None:
            self.dtype = str(action.dtype)
        return to_list()


def steps_per_line(space: Any, maximum: int) -> int:
    """How many actions of `space` fit into a line, up to `maximum`."""
    return max(1, min(maximum, _MAX_NUMBERS_PER_LINE // max(1, _count_numbers(space))))


def _count_numbers(space: Any) -> int:
    parts = getattr(space, "spaces", None)
    if parts is not None:
        return sum(
            _count_numbers(part) for part in (parts.values() if hasattr(parts, "values") else parts)
        )
    if hasattr(space, "max_length"):
        return int(space.max_length)
    size = 1
    for length in getattr(space, "shape", None) or ():
        size *= length
    return size


def is_immutable_number(reward: Any) -> bool:
    """Whether the reward cannot change, so that it can be converted later."""
    if isinstance(reward, (int, float)):
        return not isinstance(reward, bool)
    return hasattr(reward, "item") and not hasattr(reward, "__setitem__")  # a numpy scalar


def sum_rewards(rewards: list[Any]) -> tuple[int | float, list[Any]]:
    """The sum of the rewards, and the rewards as int or float. Never raises.

    The type or size of the sum reveals numpy scalars and numbers that the store rejects.
    """
    try:
        total: Any = sum(rewards)
    except (OverflowError, TypeError, ValueError):
        total = None
    kind = total.__class__
    if (kind is float or kind is int) and MIN_NUMBER <= total <= MAX_NUMBER:
        return total, rewards
    plain = [_to_plain_reward(reward) for reward in rewards]
    return sum(plain), plain


def _to_plain_reward(reward: Any) -> int | float:
    try:
        return to_number("reward", reward)
    except WorkerError:
        return float("nan")
