"""Sessions whose daemon or client is killed."""

import os
import signal
import subprocess
import sys

import pytest

from mosaic.client import TrainerClient
from mosaic.client.sessions.session_controller import SessionController
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.client.sessions.session_state import SessionPhase
from tests.client.sessions.conftest import until, until_running
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

LEASE_S = 1.0

_PLAY = """
import sys
from mosaic.client import TrainerClient
from mosaic.client.sessions.session_controller import SessionController
from mosaic.client.sessions.session_requests import SessionRequest
with TrainerClient.connect(sys.argv[1]) as client, SessionController(client) as session:
    session.start(SessionRequest(env_id="FrozenLake-v1", frames=False, lease_s=float(sys.argv[2])))
    print(session.wait(lambda state: state.environment is not None, 60).run_id, flush=True)
    session.wait(lambda state: False, 600)
"""


def test_killed_daemon(daemon: DaemonUnderTest) -> None:
    """The session continues: same run, same episode, lease renewed, actions arrive."""
    request = SessionRequest(env_id="FrozenLake-v1", frames=False, lease_s=LEASE_S)
    with TrainerClient.connect(daemon.home) as client, SessionController(client) as session:
        session.start(request)
        until_running(session)
        session.act(2)
        state = until(session, lambda state: state.step)
        daemon.kill()
        session.act(2)
        disconnected = until(session, lambda state: state.dropped_actions)
        assert not disconnected.is_connected
        daemon.restart()
        until(session, lambda state: state.is_connected)
        session.act(1)
        after = until(session, lambda state: state.step and state.step.action == 1)
        assert (after.run_id, after.phase) == (state.run_id, SessionPhase.RUNNING)
        assert after.episode is not None
        assert state.episode is not None
        assert after.episode.episode_id == state.episode.episode_id
        session.stop()
        assert until(session, lambda state: state.phase is SessionPhase.FINISHED).run is not None


def test_killed_client(daemon: DaemonUnderTest) -> None:
    """Its session pauses when the lease expires, and is cancelled after a second lease time."""
    command = [sys.executable, "-c", _PLAY, str(daemon.home.path), str(LEASE_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as player:
        assert player.stdout is not None
        run_id = player.stdout.readline().strip()
        os.kill(player.pid, signal.SIGKILL)
    assert daemon.until(run_id).state == "cancelled"
    with TrainerClient.connect(daemon.home) as client:
        reasons = {str(change.state): change.reason for change in client.run(run_id).history}
    assert reasons["paused"].startswith("No client has held it for 1 s.")
    assert reasons["cancelled"] == "No client has held it for 2 s."


def test_lease_is_renewed_while_watching(daemon: DaemonUnderTest) -> None:
    """The session is not interrupted, although the user does nothing."""
    request = SessionRequest(
        env_id="Taxi-v4", actor="random", frames=False, lease_s=2.0, params={"tick_ms": 10}
    )
    with TrainerClient.connect(daemon.home) as client, SessionController(client) as session:
        session.start(request)
        state = until(session, lambda state: state.episodes_finished >= 2)
        history = [str(change.state) for change in client.run(state.run_id).history]
        assert history == ["queued", "preparing", "running"]
        session.stop()
