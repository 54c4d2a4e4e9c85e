"""Plot data: smoothing, means, gaps, log scale, downsampling."""

import math

import numpy as np
import pytest

from gym_gui.charts.feed.curves import Curve
from gym_gui.charts.model.plot_data import PlotData, RunCurve, compose, smoothed, value_at


def _run_curve(run_id: str, group: int, y: list[float], x: list[float] | None = None) -> RunCurve:
    xs = np.arange(float(len(y))) if x is None else np.array(x)
    return RunCurve(run_id, group, Curve(xs, np.array(y), len(y)))


def _composed(
    *run_curves: RunCurve, smoothing: float = 0.0, is_log: bool = False, has_means: bool = False
) -> PlotData:
    return compose(
        run_curves, smoothing=smoothing, is_log=is_log, has_means=has_means, pixels=1_000
    )


def test_smoothing_has_no_initial_bias() -> None:
    """A constant stays constant from the first point, and a gap stays a gap."""
    assert smoothed(np.full(5, 7.0), 0.9) == pytest.approx(np.full(5, 7.0))
    with_gap = smoothed(np.array([1.0, math.nan, 1.0]), 0.9)
    assert math.isnan(with_gap[1])
    assert with_gap[2] == pytest.approx(1.0)


def test_downsampling_keeps_a_spike_of_one_point() -> None:
    """At its position, for any number of pixels."""
    y = np.random.default_rng(1).normal(size=1_000_000)
    y[543_217], y[700_001] = 900.0, -900.0
    run_curve = RunCurve("a", 0, Curve(np.arange(1_000_000.0), y, len(y)))
    for pixels in (50, 333, 800):
        (run,) = compose(
            [run_curve], smoothing=0.0, is_log=False, has_means=False, pixels=pixels
        ).runs
        assert len(run.x) <= 2 * pixels + 2
        assert run.x[run.y.argmax()] == 543_217
        assert run.x[run.y.argmin()] == 700_001


def test_a_band_that_reaches_zero_on_a_log_scale() -> None:
    """It extends to the lower edge."""
    runs = [_run_curve(str(value), 0, [value] * 10) for value in (0.1, 1.0, 9.0)]
    (group,) = _composed(*runs, is_log=True, has_means=True).groups
    assert np.isfinite(group.low).all()
    assert (group.low < group.mean - 3).all()


def test_values_that_are_not_finite_are_marked_gaps() -> None:
    """NaN and infinity are gaps in the curve, and their positions are reported."""
    plot_data = _composed(_run_curve("a", 0, [1.0, math.nan, 3.0, math.inf, 5.0]), smoothing=0.6)
    assert [x for x, _ in plot_data.odd] == [1.0, 3.0]
    assert plot_data.y_range(0, 4) == (1.0, 5.0)
    nothing = _composed(_run_curve("a", 0, [math.nan, math.nan]))
    assert nothing.y_range(0, 1) is None


def test_a_log_scale_leaves_out_values_up_to_zero() -> None:
    """Zero and below are gaps and counted; the others are exponents."""
    plot_data = _composed(_run_curve("a", 0, [0.0, 10.0, -4.0, 1000.0]), is_log=True)
    assert plot_data.left_out == 2
    assert plot_data.y_range(0, 3) == pytest.approx((1.0, 3.0))


def test_the_mean_of_three_seeds_has_a_confidence_band() -> None:
    """Student's t for three runs: 4.303 standard errors on either side."""
    runs = [_run_curve(str(value), 0, [float(value)] * 10) for value in (1, 2, 3)]
    (group,) = _composed(*runs, has_means=True).groups
    assert group.mean == pytest.approx(2.0)
    assert (group.high - group.mean) == pytest.approx(4.303 / math.sqrt(3))
    two = _composed(*runs[:2], has_means=True).groups[0]
    assert np.isnan(two.low).all()


def test_mean_of_runs_with_different_lengths() -> None:
    """After the end of the shorter run the mean is that of the longer one."""
    short = _run_curve("a", 0, [0.0] * 11)
    long = _run_curve("b", 0, [2.0] * 21)
    (group,) = _composed(short, long, has_means=True).groups
    assert value_at(group.x, group.mean, 2.0) == pytest.approx(1.0)
    assert value_at(group.x, group.mean, 19.0) == pytest.approx(2.0)


def test_a_resumed_run_is_sorted_by_step() -> None:
    """Repeated steps are next to each other."""
    plot_data = _composed(_run_curve("a", 0, [1.0, 2.0, 3.0, 4.0], [0.0, 10.0, 5.0, 15.0]))
    assert plot_data.runs[0].x.tolist() == [0.0, 5.0, 10.0, 15.0]


def test_no_points_are_empty_plot_data() -> None:
    """No runs and runs without points are not an error."""
    assert _composed().is_empty
    assert _composed(_run_curve("a", 0, []), smoothing=0.9, has_means=True).is_empty
