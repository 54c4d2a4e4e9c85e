"""The value of a curve, and the steps at which trials are compared."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sweep_worker.descriptor import DESCRIPTOR
from sweep_worker.objective import ObjectiveCurve, ReportSchedule, make_report_schedule

DEFAULTS = {p.name: p.default for p in DESCRIPTOR.algorithms[0].parameters}


def params(**given: Any) -> dict[str, Any]:
    return {**DEFAULTS, **given}


def curve(values: list[float], every: int = 0, **given: Any) -> ObjectiveCurve:
    """One point every ten steps."""
    made = ObjectiveCurve(params(**given), ReportSchedule(every, None))
    for index, value in enumerate(values, 1):
        made.add(index * 10, value)
    return made


@pytest.mark.parametrize(
    ("given", "worth"),
    [
        ({"summary": "last"}, 2.0),
        ({"summary": "mean"}, 3.0),
        ({"summary": "mean", "window": 2}, 3.5),
        ({"summary": "best"}, 5.0),
        ({"summary": "best", "direction": "minimize"}, 1.0),
    ],
)
def test_summaries(given: dict[str, Any], worth: float) -> None:
    """Of all points, of the last ones, or of the best one in the direction of the sweep."""
    assert curve([1.0, 4.0, 5.0, 2.0], **given).value == worth


def test_no_points_and_nan_are_not_values() -> None:
    """Neither counts as a good trial."""
    assert curve([]).value is None
    assert math.isnan(curve([1.0, math.nan], summary="mean").value or 0.0)
    assert curve([math.nan, 1.0], summary="best").value == 1.0
    assert curve([2.0, math.nan, 1.0], summary="best", direction="minimize").value == 1.0


def test_reported_steps_are_the_same_for_every_trial() -> None:
    """At the same steps for any number of points, once they are complete."""
    dense = ObjectiveCurve(params(summary="last"), ReportSchedule(25, 100))
    for step in (5, 25, 25, 26, 60, 101):
        dense.add(step, float(step))
    assert dense.reports == {25: 25.0, 50: 26.0, 75: 60.0, 100: 60.0}
    sparse = curve([1.0, 2.0, 3.0], every=25, summary="last")
    assert sparse.reports == {25: 2.0}


def test_without_steps_points_are_counted() -> None:
    """All of them first, then fewer, so that long runs stay cheap."""
    seen = curve([1.0] * 1000).reports
    assert list(seen)[:22] == [*range(1, 21), 21, 22]
    assert [place for place in seen if place > 95] == [
        *range(96, 100),
        *range(100, 1000, 10),
        1000,
    ]


def test_the_interval_depends_on_the_total() -> None:
    """A twentieth of it by default; without a total, by points."""
    assert make_report_schedule(params(), 100_000) == ReportSchedule(5000, 100_000)
    assert make_report_schedule(params(report_every=300), 100_000) == ReportSchedule(300, 100_000)
    assert make_report_schedule(params(), None) == ReportSchedule(0, None)
    assert make_report_schedule(params(), 5).first == 1
