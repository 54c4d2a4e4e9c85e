"""Curves: complete, downsampled and zoomed, with exact extremes."""

import math
import random
from collections.abc import Callable

from mosaic.telemetry.reader import TelemetryReader
from tests.telemetry.conftest import Spool

Stored = Callable[[], TelemetryReader]


def write_curve(spool: Spool, values: list[float], name: str = "loss") -> None:
    spool.write(
        *(
            {"type": "metric", "name": name, "value": value, "step": n * 10, "t": n / 4}
            for n, value in enumerate(values)
        )
    )


def test_a_short_curve_is_returned_completely(spool: Spool, stored: Stored) -> None:
    """It has fewer points than requested."""
    write_curve(spool, [3.0, 1.0, 2.0])
    curve = stored().curve("loss")
    assert (curve.x, curve.y, curve.points) == ([0.0, 10.0, 20.0], [3.0, 1.0, 2.0], 3)


def test_spikes_stay_visible_at_their_position(spool: Spool, stored: Stored) -> None:
    """One point in 20,000 is among 100 returned points."""
    values = [math.sin(n / 500) for n in range(20_000)]
    values[7_777], values[12_345] = 50.0, -50.0
    write_curve(spool, values)
    curve = stored().curve("loss", max_points=100)
    assert curve.points == 20_000
    assert len(curve.x) <= 100
    assert (77_770.0, 50.0) in zip(curve.x, curve.y, strict=True)
    assert (123_450.0, -50.0) in zip(curve.x, curve.y, strict=True)
    assert curve.x == sorted(curve.x)


def test_every_bucket_keeps_its_extremes(spool: Spool, stored: Stored) -> None:
    """Minimum and maximum are exact for any number of points."""
    rng = random.Random(1)
    values = [rng.gauss(0, 1) for _ in range(5_003)]
    write_curve(spool, values)
    reader = stored()
    for size in (2, 3, 17, 100, 999, 2_500, 5_002, 5_003):
        curve = reader.curve("loss", max_points=size)
        assert len(curve.x) <= max(size, 2)
        assert min(curve.y) == min(values)
        assert max(curve.y) == max(values)


def test_a_range_of_a_curve(spool: Spool, stored: Stored) -> None:
    """Exactly the points between two steps, or between two times."""
    values = [float(n) for n in range(10_000)]
    write_curve(spool, values)
    reader = stored()
    narrow = reader.curve("loss", first=30_000, last=30_050)
    assert narrow.y == [3_000.0, 3_001.0, 3_002.0, 3_003.0, 3_004.0, 3_005.0]
    by_time = reader.curve("loss", axis="t", first=750.0, last=751.0)
    assert by_time.y == [3_000.0, 3_001.0, 3_002.0, 3_003.0, 3_004.0]
    wide = reader.curve("loss", first=10_000, last=89_990, max_points=50)
    assert (min(wide.y), max(wide.y), wide.points) == (1_000.0, 8_999.0, 8_000)
    assert reader.curve("loss", first=1e9).points == 0
    assert reader.curve("loss", last=-1).points == 0


def test_a_range_of_a_curve_that_is_not_monotonic(spool: Spool, stored: Stored) -> None:
    """Steps repeat after a resume: both passes through the range are returned."""
    steps = [*range(1_000), *range(500, 1_500)]
    spool.write(
        *({"type": "metric", "name": "m", "value": n, "step": s} for n, s in enumerate(steps))
    )
    reader = stored()
    curve = reader.curve("m", first=400, last=700)
    assert sorted(curve.x) == sorted(float(s) for s in steps if 400 <= s <= 700)
    sampled = reader.curve("m", first=400, last=700, max_points=20)
    assert sampled.points == curve.points
    assert (min(sampled.y), max(sampled.y)) == (min(curve.y), max(curve.y))


def test_points_without_a_time_do_not_break_a_range_in_time(spool: Spool, stored: Stored) -> None:
    """Only points between the two times are returned."""
    spool.write(*({"type": "metric", "name": "m", "value": n} for n in range(600)))
    spool.write(*({"type": "metric", "name": "m", "value": n, "t": n} for n in range(600, 2_000)))
    curve = stored().curve("m", axis="t", first=1_000, last=1_099)
    assert curve.y == [float(n) for n in range(1_000, 1_100)]


def test_a_single_point_can_be_requested(spool: Spool, stored: Stored) -> None:
    """One is the minimum number of points."""
    write_curve(spool, [1.0, 2.0, 3.0])
    assert len(stored().curve("loss", max_points=1).x) == 1


def test_nan_is_not_an_extreme(spool: Spool, stored: Stored) -> None:
    """NaN is neither minimum nor maximum; only a bucket of NaNs returns one."""
    values = [math.nan if n % 3 else float(n) for n in range(4_000)]
    spool.write(
        *(
            {"type": "metric", "name": "loss", "value": "NaN" if math.isnan(v) else v}
            for v in values
        )
    )
    curve = stored().curve("loss", max_points=40)
    assert (min(curve.y), max(curve.y)) == (0.0, 3_999.0)


def test_points_without_a_step_use_their_index(spool: Spool, stored: Stored) -> None:
    """A metric without steps still has an order."""
    spool.write(*({"type": "metric", "name": "m", "value": n * n} for n in range(4)))
    assert stored().curve("m").x == [0.0, 1.0, 2.0, 3.0]


def test_many_values_on_one_line_and_one_series_per_agent(spool: Spool, stored: Stored) -> None:
    """`values` feeds several curves; agents are separate."""
    spool.write(
        {"type": "metric", "values": {"a": 1, "b": 2}, "step": 5},
        {"type": "metric", "name": "a", "value": 9, "step": 5, "agent_id": "red"},
    )
    reader = stored()
    assert [(s.name, s.agent_id, s.points) for s in reader.series()] == [
        ("a", None, 1),
        ("a", "red", 1),
        ("b", None, 1),
    ]
    assert reader.curve("a", agent_id="red").y == [9.0]
    assert reader.stats().metrics == 3
