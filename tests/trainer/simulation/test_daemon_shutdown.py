"""Helper processes are killed when the daemon stops or is killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.resimulation import Resimulation, SimulatedFrame
from tests.support.daemon import DaemonUnderTest, eventually
from tests.trainer.simulation.conftest import helpers_of, record_run, start_daemon

pytestmark = pytest.mark.process

ODD = "odd_environments:Odd-v0"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """A daemon that a test may stop."""
    under_test = start_daemon(tmp_path)
    try:
        yield under_test
    finally:
        under_test.clean_up()


@pytest.fixture
def client(daemon: DaemonUnderTest) -> Iterator[TrainerClient]:
    with TrainerClient.connect(daemon.home) as connected:
        yield connected


def start_replay(client: TrainerClient, fault: str = "") -> Resimulation:
    """Start a replay and return it after frame 6."""
    simulation = client.resimulate(record_run(client, ODD, fault=fault, fault_step=6), 0)
    simulation.request_frames(0)
    for part in simulation:
        if isinstance(part, SimulatedFrame) and part.index == 6:
            return simulation
    raise AssertionError("the simulation ended before frame 6")


def test_a_daemon_that_is_killed(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """Busy helpers are killed, including one that hangs in native code."""
    simulations = [start_replay(client), start_replay(client, "hang in native code")]
    assert len(helpers_of(daemon)) == 2
    daemon.kill()
    eventually(lambda: not helpers_of(daemon))
    for simulation in simulations:
        with simulation, pytest.raises(DaemonUnreachableError):
            list(simulation)


def test_the_next_daemon_removes_temporary_files(
    daemon: DaemonUnderTest, client: TrainerClient, tmp_path: Path
) -> None:
    """Files of a killed daemon are removed when the next one replays."""
    run_id = record_run(client, ODD)
    with client.resimulate(run_id, 0) as simulation:
        assert simulation.opened.steps == 20
        daemon.kill()
    left = list((tmp_path / "temporary").iterdir())
    assert left
    daemon.restart()
    with TrainerClient.connect(daemon.home) as reconnected:
        with reconnected.resimulate(run_id, 0) as simulation:
            assert simulation.opened.steps == 20
        assert not any(path.exists() for path in left)
        eventually(lambda: not list((tmp_path / "temporary").iterdir()))


def test_a_daemon_that_stops(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """Its helpers are killed, and the client gets an error."""
    simulation = start_replay(client, "hang in native code")
    assert daemon.stop() == 0
    assert not helpers_of(daemon)
    with simulation, pytest.raises(DaemonUnreachableError):
        list(simulation)
