"""Expected duration, speed, memory and disk usage from earlier runs."""

from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats
from mosaic.trainer.preflight.expectation import expect
from mosaic.trainer.registry.run_rows import EarlierRun

MIB = 1 << 20


def earlier(duration_s: float, steps: int, sps: float | None = None, rss: int = 0) -> EarlierRun:
    return EarlierRun(duration_s=duration_s, steps=steps, sps=sps, rss_bytes=rss or None)


def record(steps: int, spool_bytes: int) -> RunRecord:
    return RunRecord(
        run_id="r",
        worker="w",
        mode="train",
        env_id="E",
        seed=1,
        state=RunState.SUCCEEDED,
        created_at=0.0,
        digest=RunStats(steps=steps, spool_bytes=spool_bytes),
    )


def test_the_duration_grows_with_the_steps() -> None:
    """It is the median time per step of earlier runs, multiplied by the steps."""
    runs = [earlier(10, 1_000), earlier(30, 2_000), earlier(1_000, 1_000)]
    assert expect(10_000, "all", runs, []).duration_s == 150.0


def test_the_duration_without_a_number_of_steps() -> None:
    """It is the median duration of earlier runs."""
    assert expect(None, "all", [earlier(10, 5), earlier(20, 5)], []).duration_s == 15.0


def test_speed_is_the_median_and_memory_the_peak() -> None:
    """Runs without a value are omitted."""
    runs = [earlier(1, 1, 100.0, 5), earlier(1, 1, 300.0, 9), earlier(1, 1, 200.0), earlier(1, 0)]
    expectation = expect(None, "all", runs, [])
    assert (expectation.sps, expectation.memory_bytes, expectation.runs) == (200.0, 9, 4)


def test_nothing_is_expected_without_earlier_runs() -> None:
    """Only the disk usage has a default estimate."""
    expectation = expect(1_000_000, "all", [], [])
    assert (expectation.duration_s, expectation.sps, expectation.memory_bytes) == (None, None, None)
    assert expectation.disk_bytes > 300 * MIB


def test_the_disk_usage_is_estimated_from_earlier_runs() -> None:
    """A run with large observations needs more than the default estimate."""
    large = expect(1_000, "all", [], [record(10, 10 * MIB), record(0, 5)])
    assert large.disk_bytes > 1_000 * MIB
    without_steps = expect(1_000_000, "off", [], [])
    assert without_steps.disk_bytes < 30 * MIB
