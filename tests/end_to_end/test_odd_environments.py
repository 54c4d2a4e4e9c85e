"""Environments of a person's own that crash, hang or follow chance, in real sessions."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.replay.verification import verify
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

OWN_MODULES = Path(__file__).parent / "own_modules"
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def client(
    tmp_path_factory: pytest.TempPathFactory, give_session_bundle: Callable[[Home], None]
) -> Iterator[TrainerClient]:
    under_test = DaemonUnderTest(tmp_path_factory.mktemp("odd"))
    give_session_bundle(under_test.home)
    try:
        assert under_test.start().startswith("ready ")
        with TrainerClient.connect(under_test.home) as connected:
            yield connected
    finally:
        under_test.clean_up()


def play(client: TrainerClient, how: str, **params: Any) -> RunRecord:
    return client.submit(
        {
            "worker": "session_worker",
            "mode": "play",
            "algo": "random",
            "actor": "random",
            "env_id": "odd_worlds:Odd-v0",
            "env_kwargs": {"how": how},
            "episodes": 2,
            "params": {"speed": 0.0, **params},
            "python_path": [str(OWN_MODULES)],
        }
    )


def test_one_that_hangs_can_be_stopped(client: TrainerClient) -> None:
    """What was played before is kept, and nothing of the run is left."""
    run_id = play(client, "hangs").run_id
    eventually(lambda: client.stats(run_id).steps == 4)
    client.cancel(run_id, grace_s=0.1)
    assert client.wait(run_id, PATIENCE_S).state is RunState.CANCELLED
    assert client.stats(run_id).steps == 4


def test_one_that_crashes_takes_only_its_own_process(client: TrainerClient) -> None:
    """The run says what happened, the steps before it are there, and the next session plays."""
    crashed = client.wait(play(client, "crashes", speed=1.0, tick_ms=20).run_id, PATIENCE_S)
    assert crashed.state is RunState.FAILED
    assert "SIGSEGV" in crashed.reason
    assert len(client.episode_steps(crashed.run_id, 0)) == 4
    assert client.wait(play(client, "").run_id, PATIENCE_S).state is RunState.SUCCEEDED


def test_a_nondeterministic_one_is_detected(client: TrainerClient) -> None:
    """The replay says at which step it differs, and the telemetry can still be looked at."""
    run = client.wait(play(client, "differs").run_id, PATIENCE_S)
    found = verify(client, run.run_id, 1)
    assert (found.identical, found.first_difference) == (False, 4)
    assert "step 4" in found.difference
    assert len(client.episode_steps(run.run_id, 1)) == 20


def test_one_that_is_as_it_should_be_replays(client: TrainerClient) -> None:
    """A module of one's own is found by the replay too."""
    run = client.wait(play(client, "").run_id, PATIENCE_S)
    found = verify(client, run.run_id, 1)
    assert (found.identical, found.steps) == (True, 20)
