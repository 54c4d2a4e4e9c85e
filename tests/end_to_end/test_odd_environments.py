"""User environments that crash, hang or are not deterministic, in real sessions."""

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
TIMEOUT_S = 60.0


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


def test_a_hanging_environment_can_be_stopped(client: TrainerClient) -> None:
    """Earlier steps are stored, and no process is left."""
    run_id = play(client, "hangs").run_id
    eventually(lambda: client.stats(run_id).steps == 4)
    client.cancel(run_id, grace_s=0.1)
    assert client.wait(run_id, TIMEOUT_S).state is RunState.CANCELLED
    assert client.stats(run_id).steps == 4


def test_a_crashing_environment_ends_only_its_process(client: TrainerClient) -> None:
    """The run has the reason, earlier steps are stored, and the next session works."""
    crashed = client.wait(play(client, "crashes", speed=1.0, tick_ms=20).run_id, TIMEOUT_S)
    assert crashed.state is RunState.FAILED
    assert "SIGSEGV" in crashed.reason
    assert len(client.episode_steps(crashed.run_id, 0)) == 4
    assert client.wait(play(client, "").run_id, TIMEOUT_S).state is RunState.SUCCEEDED


def test_a_nondeterministic_environment_is_detected(client: TrainerClient) -> None:
    """The replay names the first step that differs; the telemetry stays readable."""
    run = client.wait(play(client, "differs").run_id, TIMEOUT_S)
    found = verify(client, run.run_id, 1)
    assert (found.identical, found.first_difference) == (False, 4)
    assert "step 4" in found.difference
    assert len(client.episode_steps(run.run_id, 1)) == 20


def test_a_correct_environment_replays(client: TrainerClient) -> None:
    """The replay finds the user's module, too."""
    run = client.wait(play(client, "").run_id, TIMEOUT_S)
    found = verify(client, run.run_id, 1)
    assert (found.identical, found.steps) == (True, 20)
