"""The connection to the daemon: found, lost, and found again, with the window always there."""

import os
import signal

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


def test_a_daemon_that_was_killed_is_found_again(
    link: TrainerLink, daemon: DaemonUnderTest, qtbot: QtBot
) -> None:
    """The link says that it is lost, and recovers with the same client once a daemon serves."""
    client = link.client
    endpoint = Endpoint.read(daemon.home.endpoint)
    assert endpoint is not None

    os.kill(endpoint.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: link.state is LinkState.LOST, timeout=PATIENCE_MS)
    assert link.problem is not None
    assert link.problem.remedy

    with qtbot.waitSignal(link.recovered, timeout=PATIENCE_MS):
        link.start_daemon()

    assert link.is_ready
    assert link.client is client
    client.shutdown()


def test_without_a_daemon_it_says_so(
    tmp_path_factory: pytest.TempPathFactory, qtbot: QtBot
) -> None:
    """A window that may not start one still comes up, with the reason and the remedy."""
    made = TrainerLink(Home(tmp_path_factory.mktemp("empty")))
    made.open(start=False)

    qtbot.waitUntil(lambda: made.state is LinkState.FAILED, timeout=PATIENCE_MS)

    assert made.problem is not None
    assert made.problem.remedy
    made.close()
    assert made.join(10)
