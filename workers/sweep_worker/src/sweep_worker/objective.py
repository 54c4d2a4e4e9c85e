"""ObjectiveCurve: the objective value of a run, at its end and at fixed report steps.

Pruners compare trials at equal steps, so values are reported at multiples of `every` steps; if the
total number of steps is unknown, after fixed numbers of points.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_REPORTS = 20
_EVERY_POINT_UP_TO = 20


class ReportSchedule(NamedTuple):
    """Report at multiples of `every` steps; 0: after fixed numbers of points."""

    every: int
    total: int | None

    @property
    def first(self) -> int:
        return max(1, self.every)


def make_report_schedule(params: Mapping[str, Any], total_timesteps: int | None) -> ReportSchedule:
    every: int = params["report_every"]
    if not every and total_timesteps:
        every = max(1, total_timesteps // _REPORTS)
    return ReportSchedule(every, total_timesteps if every else None)


class ObjectiveCurve:
    """The objective of one run, updated point by point."""

    def __init__(self, params: Mapping[str, Any], schedule: ReportSchedule) -> None:
        self._summary: str = params["summary"]
        self._is_maximizing = params["direction"] == "maximize"
        self._every = schedule.every
        self._recent: deque[float] = deque(maxlen=params["window"])
        self._best = math.nan
        self._points = 0
        self._last_report = 0
        self.reports: dict[int, float] = {}
        """The objective value at each report step so far."""

    def add(self, step: int | None, value: float) -> None:
        """Add the next point."""
        if self._every and step is not None:
            self._report_before(step)
        self._points += 1
        self._recent.append(value)
        is_better = value > self._best if self._is_maximizing else value < self._best
        if is_better or math.isnan(self._best):
            self._best = value
        if not self._every and _is_report_point(self._points):
            self.reports[self._points] = self._summarize()

    @property
    def value(self) -> float | None:
        """The objective value of all points so far; None without any."""
        return self._summarize() if self._points else None

    def _report_before(self, step: int) -> None:
        """Report the steps before this point, because several points may share a step."""
        last = (step - 1) // self._every
        if self._points:
            for report in range(self._last_report + 1, last + 1):
                self.reports[report * self._every] = self._summarize()
        self._last_report = max(self._last_report, last)

    def _summarize(self) -> float:
        match self._summary:
            case "last":
                return self._recent[-1]
            case "best":
                return self._best
            case _:
                return sum(self._recent) / len(self._recent)


def _is_report_point(points: int) -> bool:
    """Every point at first, then up to 90 per decade."""
    if points <= _EVERY_POINT_UP_TO:
        return True
    interval = int("1" + "0" * (len(str(points)) - 2))
    return points % interval == 0
