"""What a curve is worth, and where it is looked at so that trials can be compared."""

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
    """With a point at each ten steps."""
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
def test_the_summary_that_was_asked_for(given: dict[str, Any], worth: float) -> None:
    """Of all points, of the last ones, or of the best one in the direction of the sweep."""
    assert curve([1.0, 4.0, 5.0, 2.0], **given).value == worth


def test_no_point_is_no_value_and_nan_stays_nan() -> None:
    """Neither is taken for a good trial."""
    assert curve([]).value is None
    assert math.isnan(curve([1.0, math.nan], summary="mean").value or 0.0)
    assert curve([math.nan, 1.0], summary="best").value == 1.0
    assert curve([2.0, math.nan, 1.0], summary="best", direction="minimize").value == 1.0


def test_places_are_the_same_for_every_trial() -> None:
    """However many points come, at the same steps, once no further point can belong there."""
    dense = ObjectiveCurve(params(summary="last"), ReportSchedule(25, 100))
    for step in (5, 25, 25, 26, 60, 101):
        dense.add(step, float(step))
    assert dense.reports == {25: 25.0, 50: 26.0, 75: 60.0, 100: 60.0}
    sparse = curve([1.0, 2.0, 3.0], every=25, summary="last")
    assert sparse.reports == {25: 2.0}


def test_without_steps_places_are_numbers_of_points() -> None:
    """Every one at first, then fewer, so that long runs stay cheap."""
    seen = curve([1.0] * 1000).reports
    assert list(seen)[:22] == [*range(1, 21), 21, 22]
    assert [place for place in seen if place > 95] == [
        *range(96, 100),
        *range(100, 1000, 10),
        1000,
    ]


def test_looks_come_from_the_total() -> None:
    """A twentieth of it unless another distance is given; without a total by points."""
    assert make_report_schedule(params(), 100_000) == ReportSchedule(5000, 100_000)
    assert make_report_schedule(params(report_every=300), 100_000) == ReportSchedule(300, 100_000)
    assert make_report_schedule(params(), None) == ReportSchedule(0, None)
    assert make_report_schedule(params(), 5).first == 1
