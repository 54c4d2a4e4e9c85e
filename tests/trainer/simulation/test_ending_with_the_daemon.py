"""Helper processes never outlive the daemon, however that ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.resimulation import Resimulation, SimulatedFrame
from tests.support.daemon import DaemonUnderTest, eventually
from tests.trainer.simulation.conftest import helpers_of, record_run, serving

pytestmark = pytest.mark.process

ODD = "odd_environments:Odd-v0"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """One that a test may end."""
    under_test = serving(tmp_path)
    try:
        yield under_test
    finally:
        under_test.clean_up()


@pytest.fixture
def client(daemon: DaemonUnderTest) -> Iterator[TrainerClient]:
    with TrainerClient.connect(daemon.home) as connected:
        yield connected


def replaying(client: TrainerClient, fault: str = "") -> Resimulation:
    """A replay in the midst of its work."""
    simulation = client.resimulate(record_run(client, ODD, fault=fault, fault_step=6), 0)
    simulation.request_frames(0)
    for part in simulation:
        if isinstance(part, SimulatedFrame) and part.index == 6:
            return simulation
    raise AssertionError("it ended before frame 6")


def test_a_daemon_that_is_killed(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """kill -9 of the daemon ends idle helpers, busy ones, and one that hangs in native code."""
    simulations = [replaying(client), replaying(client, "hang in native code")]
    assert len(helpers_of(daemon)) == 2
    daemon.kill()
    eventually(lambda: not helpers_of(daemon))
    for simulation in simulations:
        with simulation, pytest.raises(DaemonUnreachableError):
            list(simulation)


def test_the_next_daemon_clears_up(
    daemon: DaemonUnderTest, client: TrainerClient, tmp_path: Path
) -> None:
    """Temporary files of a daemon that was killed are gone when the next one replays."""
    run_id = record_run(client, ODD)
    with client.resimulate(run_id, 0) as simulation:
        assert simulation.opened.steps == 20
        daemon.kill()
    left = list((tmp_path / "temporary").iterdir())
    assert left
    daemon.restart()
    with TrainerClient.connect(daemon.home) as again:
        with again.resimulate(run_id, 0) as simulation:
            assert simulation.opened.steps == 20
        assert not any(path.exists() for path in left)
        eventually(lambda: not list((tmp_path / "temporary").iterdir()))


def test_a_daemon_that_stops(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """It takes its helpers along, and the client is notified."""
    simulation = replaying(client, "hang in native code")
    assert daemon.stop() == 0
    assert not helpers_of(daemon)
    with simulation, pytest.raises(DaemonUnreachableError):
        list(simulation)
