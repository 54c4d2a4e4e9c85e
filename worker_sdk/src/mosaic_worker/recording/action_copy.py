"""Copies of actions for the record, and what kind of values they were.

An environment computes differently with an array of another type than its action space's, and
with Python's own numbers; so the record says when an episode's actions were such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.spaces import PYTHON_VALUES
from mosaic_worker.plain import Plainer

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_NUMBERS_A_LINE = 20_000


class ActionCopier:
    """Call it with each action that is no plain int. `dtype` is of the episode's first such one."""

    __slots__ = ("_own", "dtype")

    def __init__(self, space: Any) -> None:
        own = getattr(space, "dtype", None)
        self._own = own if getattr(own, "kind", "") == "f" else None
        self.dtype: str | None = None

    def __call__(self, action: Any) -> Any:
        """The action in plain values, which do not change when the array does."""
        to_list: Callable[[], Any] | None = getattr(action, "tolist", None)
        if to_list is None:
            if self._own is not None and self.dtype is None:
                self.dtype = PYTHON_VALUES
            return action if action.__class__ is float else Plainer().plain("action", action)
        own = self._own
        if own is not None and action.dtype != own and self.dtype is None:
            self.dtype = str(action.dtype)
        return to_list()


def steps_a_line(space: Any, most: int) -> int:
    """How many actions of `space` fit a line, but at most `most`."""
    return max(1, min(most, _MOST_NUMBERS_A_LINE // max(1, _numbers_in(space))))


def _numbers_in(space: Any) -> int:
    parts = getattr(space, "spaces", None)
    if parts is not None:
        return sum(
            _numbers_in(part) for part in (parts.values() if hasattr(parts, "values") else parts)
        )
    if hasattr(space, "max_length"):
        return int(space.max_length)
    size = 1
    for length in getattr(space, "shape", None) or ():
        size *= length
    return size
