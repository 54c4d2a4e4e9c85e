"""Curves made ready to be drawn: smoothing, means, gaps, logarithms, few points."""

import math

import numpy as np
import pytest

from gym_gui.charts.feed.curves import Curve
from gym_gui.charts.model.plot_data import Picture, Traced, compose, smoothed, value_at


def _traced(run_id: str, group: int, y: list[float], x: list[float] | None = None) -> Traced:
    places = np.arange(float(len(y))) if x is None else np.array(x)
    return Traced(run_id, group, Curve(places, np.array(y), len(y)))


def _composed(
    *traced: Traced, smoothing: float = 0.0, is_log: bool = False, has_means: bool = False
) -> Picture:
    return compose(traced, smoothing=smoothing, is_log=is_log, has_means=has_means, pixels=1_000)


def test_smoothing_has_no_pull_of_its_beginning() -> None:
    """A constant stays what it is from the first point on, and a gap stays a gap."""
    assert smoothed(np.full(5, 7.0), 0.9) == pytest.approx(np.full(5, 7.0))
    with_gap = smoothed(np.array([1.0, math.nan, 1.0]), 0.9)
    assert math.isnan(with_gap[1])
    assert with_gap[2] == pytest.approx(1.0)


def test_a_spike_of_one_point_among_a_million_stays() -> None:
    """It is in the picture, and in its place, whatever room there is."""
    y = np.random.default_rng(1).normal(size=1_000_000)
    y[543_217], y[700_001] = 900.0, -900.0
    traced = Traced("a", 0, Curve(np.arange(1_000_000.0), y, len(y)))
    for pixels in (50, 333, 800):
        (run,) = compose([traced], smoothing=0.0, is_log=False, has_means=False, pixels=pixels).runs
        assert len(run.x) <= 2 * pixels + 2
        assert run.x[run.y.argmax()] == 543_217
        assert run.x[run.y.argmin()] == 700_001


def test_a_band_that_reaches_zero_stays_on_a_logarithmic_scale() -> None:
    """It goes on to the lower edge instead of breaking off."""
    runs = [_traced(str(value), 0, [value] * 10) for value in (0.1, 1.0, 9.0)]
    (group,) = _composed(*runs, is_log=True, has_means=True).groups
    assert np.isfinite(group.low).all()
    assert (group.low < group.mean - 3).all()


def test_values_that_are_no_numbers_are_gaps_with_a_mark() -> None:
    """NaN and infinity leave the rest of the curve to be seen, and are told where they are."""
    picture = _composed(_traced("a", 0, [1.0, math.nan, 3.0, math.inf, 5.0]), smoothing=0.6)
    assert [place for place, _ in picture.odd] == [1.0, 3.0]
    assert picture.y_range(0, 4) == (1.0, 5.0)
    nothing = _composed(_traced("a", 0, [math.nan, math.nan]))
    assert nothing.y_range(0, 1) is None


def test_a_logarithmic_picture_leaves_out_what_it_cannot_show() -> None:
    """Zero and less are gaps, and counted; the others are exponents."""
    picture = _composed(_traced("a", 0, [0.0, 10.0, -4.0, 1000.0]), is_log=True)
    assert picture.left_out == 2
    assert picture.y_range(0, 3) == pytest.approx((1.0, 3.0))


def test_the_mean_of_three_seeds_has_a_band_of_confidence() -> None:
    """Student's t for three runs: 4.303 standard errors either side."""
    runs = [_traced(str(value), 0, [float(value)] * 10) for value in (1, 2, 3)]
    (group,) = _composed(*runs, has_means=True).groups
    assert group.mean == pytest.approx(2.0)
    assert (group.high - group.mean) == pytest.approx(4.303 / math.sqrt(3))
    two = _composed(*runs[:2], has_means=True).groups[0]
    assert np.isnan(two.low).all()


def test_runs_of_different_lengths_are_averaged_where_they_are() -> None:
    """Beyond the end of the shorter run the mean is that of the longer."""
    short = _traced("a", 0, [0.0] * 11)
    long = _traced("b", 0, [2.0] * 21)
    (group,) = _composed(short, long, has_means=True).groups
    assert value_at(group.x, group.mean, 2.0) == pytest.approx(1.0)
    assert value_at(group.x, group.mean, 19.0) == pytest.approx(2.0)


def test_a_resumed_run_is_drawn_from_left_to_right() -> None:
    """Steps that were gone over twice lie beside each other."""
    picture = _composed(_traced("a", 0, [1.0, 2.0, 3.0, 4.0], [0.0, 10.0, 5.0, 15.0]))
    assert picture.runs[0].x.tolist() == [0.0, 5.0, 10.0, 15.0]


def test_nothing_at_all_is_an_empty_picture() -> None:
    """No runs, or runs without points, are no error."""
    assert _composed().is_empty
    assert _composed(_traced("a", 0, []), smoothing=0.9, has_means=True).is_empty
