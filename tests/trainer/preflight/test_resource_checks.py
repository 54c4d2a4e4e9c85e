"""Checks of requested and expected resources against the available ones."""

from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.layout import Home
from mosaic.contract.readiness import CheckStatus
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.preflight import resource_checks
from mosaic.trainer.preflight.expectation import Expectation
from tests.trainer.machine.conftest import FakeMachine
from tests.trainer.preflight.conftest import config, only

GIB = 1 << 30


@pytest.mark.parametrize(
    ("requested", "status"),
    [(1, CheckStatus.OK), (2, CheckStatus.OK), (3, CheckStatus.WARNING), (5, CheckStatus.BLOCKING)],
)
def test_cpus(fake: FakeMachine, requested: int, status: CheckStatus) -> None:
    """More CPUs than the setting blocks; more than the machine has is a warning."""
    run = config(resources={"cpus": requested})
    check = resource_checks.check_cpus(run, fake.machine(cpus=2), DaemonSettings(cpus=4))
    assert only(check).status is status


@pytest.mark.parametrize(
    ("requested", "settings", "expected_bytes", "status"),
    [
        (None, {}, None, CheckStatus.OK),
        (16_000, {}, None, CheckStatus.OK),
        (16_001, {}, None, CheckStatus.BLOCKING),
        (5_000, {"memory_mb": 4_000}, None, CheckStatus.BLOCKING),
        (1_000, {}, 2 * GIB, CheckStatus.WARNING),
        (None, {}, 9 * GIB, CheckStatus.WARNING),
        (None, {}, 7 * GIB, CheckStatus.OK),
    ],
)
def test_memory(
    fake: FakeMachine,
    requested: int | None,
    settings: dict[str, Any],
    expected_bytes: int | None,
    status: CheckStatus,
) -> None:
    """The machine has 16,000 MB, of which 8,000 are free."""
    check = resource_checks.check_memory(
        config(resources={"memory_mb": requested}),
        fake.machine(),
        DaemonSettings(**settings),
        Expectation(memory_bytes=expected_bytes),
    )
    assert only(check).status is status


@pytest.mark.parametrize(
    ("min_mb", "estimate_bytes", "status"),
    [
        (0, 0, CheckStatus.OK),
        (0, 1 << 60, CheckStatus.WARNING),
        (1 << 50, 0, CheckStatus.BLOCKING),
    ],
)
def test_disk(
    fake: FakeMachine, tmp_path: Path, min_mb: int, estimate_bytes: int, status: CheckStatus
) -> None:
    """Less than the minimum blocks; a large estimate is a warning."""
    check = resource_checks.check_disk(
        Home(tmp_path / "var"),
        fake.machine(),
        DaemonSettings(min_free_disk_mb=min_mb),
        Expectation(disk_bytes=estimate_bytes),
    )
    item = only(check)
    assert item.status is status
    assert bool(item.remedy) == (status is not CheckStatus.OK)


def test_a_time_limit_that_is_too_short_warns() -> None:
    """The run would be cancelled before it finishes."""
    run = config(time_limit_s=60)
    long, short = Expectation(duration_s=100.0), Expectation(duration_s=10.0)
    assert only(resource_checks.check_time_limit(run, long)).status is CheckStatus.WARNING
    assert list(resource_checks.check_time_limit(run, short)) == []
    assert list(resource_checks.check_time_limit(config(), long)) == []
