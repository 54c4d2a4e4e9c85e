"""A real daemon with the session worker's bundle and the workers of these tests."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.client.sessions.session_controller import SessionController
from mosaic.client.sessions.session_state import SessionPhase, SessionState
from mosaic.contract.layout import Home
from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool

WORKERS = Path(__file__).parent / "workers"
TIMEOUT_S = 60.0

GiveBundle = Callable[[Home], None]


@pytest.fixture
def daemon(daemon_pool: DaemonPool, give_session_bundle: GiveBundle) -> Iterator[DaemonUnderTest]:
    """A daemon that a test may kill."""
    yield from _run_daemon(daemon_pool, give_session_bundle)


@pytest.fixture(scope="module")
def shared_daemon(
    daemon_pool: DaemonPool, give_session_bundle: GiveBundle
) -> Iterator[DaemonUnderTest]:
    """A daemon for tests that do not change each other's runs."""
    yield from _run_daemon(daemon_pool, give_session_bundle)


@pytest.fixture(scope="module")
def client(shared_daemon: DaemonUnderTest) -> Iterator[TrainerClient]:
    with TrainerClient.connect(shared_daemon.home) as connected:
        yield connected


@pytest.fixture
def session(client: TrainerClient) -> Iterator[SessionController]:
    """Closed after the test, with its run."""
    with SessionController(client) as controller:
        yield controller
        controller.stop()


def until(session: SessionController, condition: Callable[[SessionState], object]) -> SessionState:
    return session.wait(lambda state: bool(condition(state)), TIMEOUT_S)


def until_running(session: SessionController) -> SessionState:
    """Wait until the session has an environment."""
    state = until(
        session,
        lambda state: state.phase not in (SessionPhase.IDLE, SessionPhase.STARTING) or state.error,
    )
    assert state.phase is SessionPhase.RUNNING, state
    return state


def _run_daemon(
    daemon_pool: DaemonPool, give_session_bundle: GiveBundle
) -> Iterator[DaemonUnderTest]:
    def prepare(home: Home) -> None:
        give_session_bundle(home)
        home.settings.write_text(f"worker_folders = [{json.dumps(str(WORKERS))}]\n")

    with daemon_pool.daemon("sessions with other workers", prepare) as under_test:
        yield under_test
