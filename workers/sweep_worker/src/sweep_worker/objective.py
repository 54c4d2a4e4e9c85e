"""What a run's curve is worth, at its end and at fixed places on the way.

Pruners compare trials at equal steps, so that a curve is looked at where all trials are: at
multiples of so many steps, or, where nobody knows how many steps there will be, after so many
points.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOOKS = 20
_EVERY_POINT_UP_TO = 20


class Looks(NamedTuple):
    """Where curves are looked at: at multiples of `every` steps; 0: after so many points."""

    every: int
    total: int | None

    @property
    def first(self) -> int:
        return max(1, self.every)


def looks_of(params: Mapping[str, Any], total_timesteps: int | None) -> Looks:
    every: int = params["report_every"]
    if not every and total_timesteps:
        every = max(1, total_timesteps // _LOOKS)
    return Looks(every, total_timesteps if every else None)


class Curve:
    """One run's objective, point by point."""

    def __init__(self, params: Mapping[str, Any], looks: Looks) -> None:
        self._summary: str = params["summary"]
        self._maximizes = params["direction"] == "maximize"
        self._every = looks.every
        self._recent: deque[float] = deque(maxlen=params["window"])
        self._best = math.nan
        self._points = 0
        self._place = 0
        self.seen: dict[int, float] = {}
        """What it was worth at each place so far."""

    def add(self, step: int | None, value: float) -> None:
        """The next point."""
        if self._every and step is not None:
            self._look_before(step)
        self._points += 1
        self._recent.append(value)
        is_better = value > self._best if self._maximizes else value < self._best
        if is_better or math.isnan(self._best):
            self._best = value
        if not self._every and _is_place(self._points):
            self.seen[self._points] = self._value()

    @property
    def worth(self) -> float | None:
        """Of all points so far; None without any."""
        return self._value() if self._points else None

    def _look_before(self, step: int) -> None:
        """Places that this point is the first one beyond: other points may share a step."""
        last = (step - 1) // self._every
        if self._points:
            for place in range(self._place + 1, last + 1):
                self.seen[place * self._every] = self._value()
        self._place = max(self._place, last)

    def _value(self) -> float:
        match self._summary:
            case "last":
                return self._recent[-1]
            case "best":
                return self._best
            case _:
                return sum(self._recent) / len(self._recent)


def _is_place(points: int) -> bool:
    """Every point at first, then fewer and fewer: at most 90 of each ten times as many."""
    if points <= _EVERY_POINT_UP_TO:
        return True
    between = int("1" + "0" * (len(str(points)) - 2))
    return points % between == 0
