"""Confidence intervals of a mean over a few runs."""

import math

import pytest

from gym_gui.charts.model.chart_confidence import mean_and_half, t_975


def test_confidence_interval_of_three_values() -> None:
    """Student's t for three values; a single value has no interval."""
    assert mean_and_half([4.0]) == (4.0, None)
    mean, half = mean_and_half([1.0, 2.0, 3.0])
    assert mean == 2.0
    assert half == pytest.approx(4.303 / math.sqrt(3))


def test_quantile_after_the_table_approaches_the_normal_distribution() -> None:
    """Within 0.01 of published values for 30 and 120 degrees of freedom."""
    assert t_975(30) == pytest.approx(2.042, abs=0.01)
    assert t_975(120) == pytest.approx(1.980, abs=0.01)
    assert math.isnan(t_975(0))
