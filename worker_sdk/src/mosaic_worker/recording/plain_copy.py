"""Copies of observations and infos in plain values, which may wait for their line to be written.

Large arrays are left out: a frame shows an image, and a line is no place for one.
"""

from __future__ import annotations

from typing import Any

LARGEST_OBSERVATION = 4096
LARGEST_IN_INFO = 1024
_LONGEST_TEXT = 4096
_DEEPEST = 8

_PLAIN = frozenset({int, float, bool, type(None)})


class NotPlainError(Exception):
    """Something that only the emitter's careful way can write."""


class _LeftOut:
    """Stands for what is too large."""


_LEFT_OUT = _LeftOut()


def copy_observation(value: Any) -> Any:
    """`value` in plain values of its own; None when it is too large.

    Raises `NotPlainError` for what has no plain form.
    """
    if value.__class__ in _PLAIN:
        return value
    copied = _copy(value, LARGEST_OBSERVATION, 0)
    return None if copied is _LEFT_OUT else copied


def copy_info(info: Any) -> Any:
    """`info` in plain values of its own, without what is too large; None when nothing is left."""
    if not info:
        return None
    if info.__class__ is dict:
        for name, value in info.items():
            if value.__class__ not in _PLAIN or name.__class__ is not str:
                break
        else:
            return info.copy()
    copied = _copy(info, LARGEST_IN_INFO, 0)
    return None if copied is _LEFT_OUT else copied or None


def _copy(value: Any, largest: int, depth: int) -> Any:
    kind = value.__class__
    if kind in _PLAIN:
        return value
    to_list = getattr(value, "tolist", None)
    if to_list is not None:
        return _LEFT_OUT if getattr(value, "size", 1) > largest else _checked(to_list())
    if kind is str and len(value) <= _LONGEST_TEXT:
        return value
    if depth < _DEEPEST:
        if kind is dict:
            return _copy_dict(value, largest, depth)
        if kind is tuple or kind is list:
            return _copy_list(value, largest, depth)
    raise NotPlainError


def _copy_dict(value: dict[Any, Any], largest: int, depth: int) -> Any:
    copied = {}
    for name, item in value.items():
        if name.__class__ is not str:
            raise NotPlainError
        plain = _copy(item, largest, depth + 1)
        if plain is not _LEFT_OUT:
            copied[name] = plain
    return copied


def _copy_list(value: Any, largest: int, depth: int) -> Any:
    """All of it or nothing: an entry's place has a meaning."""
    if len(value) > largest:
        return _LEFT_OUT
    copied = [_copy(item, largest, depth + 1) for item in value]
    return _LEFT_OUT if any(item is _LEFT_OUT for item in copied) else copied


def _checked(plain: Any) -> Any:
    """An array of objects gives those objects back, and they may be anything."""
    first = plain
    while first.__class__ is list and first:
        first = first[0]
    if first.__class__ in _PLAIN or first.__class__ is list or first.__class__ is str:
        return plain
    raise NotPlainError
