"""A run whose worker pauses itself is paused, and any client can resume it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mosaic.contract.layout import Home
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

FAILS_ONCE = """
class FailsOnce:
    def __init__(self, env):
        self.steps = 0

    def act(self, observation, info):
        self.steps += 1
        if self.steps == 3:
            raise ValueError("actor failed")
        return 0
"""


@pytest.fixture
def daemon(
    tmp_path: Path, give_session_bundle: Callable[[Home], None]
) -> Iterator[DaemonUnderTest]:
    under_test = DaemonUnderTest(tmp_path)
    give_session_bundle(under_test.home)
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


def test_a_session_with_a_failed_actor_is_paused_and_can_be_resumed(
    daemon: DaemonUnderTest, tmp_path: Path
) -> None:
    """The record has the reason, and `ResumeRun` resumes it."""
    script = tmp_path / "fails_once.py"
    script.write_text(FAILS_ONCE)
    config = {
        "worker": "session_worker",
        "mode": "play",
        "algo": "scripted",
        "env_id": "CliffWalking-v1",
        "params": {"script": f"{script}:FailsOnce", "speed": 0.0},
        "total_timesteps": 20,
        "lease_s": 600.0,
    }
    run_id = daemon.stub.SubmitRun(
        pb.SubmitRunRequest(config_json=json.dumps(config).encode())
    ).run_id
    assert "actor failed" in daemon.until(run_id, RunState.PAUSED).reason
    assert daemon.stub.ResumeRun(pb.RunRef(run_id=run_id)).state == RunState.RUNNING
    assert eventually(lambda: daemon.record(run_id).state == RunState.SUCCEEDED)
    history = [change.state for change in daemon.stub.GetRun(pb.RunRef(run_id=run_id)).history]
    assert history[-3:] == [RunState.PAUSED, RunState.RUNNING, RunState.SUCCEEDED]
