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


def make_curve(values: list[float], every: int = 0, **given: Any) -> ObjectiveCurve:
    """Return a curve with one point every ten steps."""
    curve = ObjectiveCurve(params(**given), ReportSchedule(every, None))
    for index, value in enumerate(values, 1):
        curve.add(index * 10, value)
    return curve


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"summary": "last"}, 2.0),
        ({"summary": "mean"}, 3.0),
        ({"summary": "mean", "window": 2}, 3.5),
        ({"summary": "best"}, 5.0),
        ({"summary": "best", "direction": "minimize"}, 1.0),
    ],
)
def test_summaries(given: dict[str, Any], expected: float) -> None:
    """Of all points, of the last ones, or of the best one in the direction of the sweep."""
    assert make_curve([1.0, 4.0, 5.0, 2.0], **given).value == expected


def test_no_points_and_nan_are_not_values() -> None:
    """A curve without points has no value, and NaN is not the best value."""
    assert make_curve([]).value is None
    assert math.isnan(make_curve([1.0, math.nan], summary="mean").value or 0.0)
    assert make_curve([math.nan, 1.0], summary="best").value == 1.0
    assert make_curve([2.0, math.nan, 1.0], summary="best", direction="minimize").value == 1.0


def test_reported_steps_are_the_same_for_every_trial() -> None:
    """They do not depend on the number of points, and are reported once they are complete."""
    dense = ObjectiveCurve(params(summary="last"), ReportSchedule(25, 100))
    for step in (5, 25, 25, 26, 60, 101):
        dense.add(step, float(step))
    assert dense.reports == {25: 25.0, 50: 26.0, 75: 60.0, 100: 60.0}
    sparse = make_curve([1.0, 2.0, 3.0], every=25, summary="last")
    assert sparse.reports == {25: 2.0}


def test_without_steps_points_are_counted() -> None:
    """All points are reported at first, then fewer."""
    reports = make_curve([1.0] * 1000).reports
    assert list(reports)[:22] == [*range(1, 21), 21, 22]
    assert [point for point in reports if point > 95] == [
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
