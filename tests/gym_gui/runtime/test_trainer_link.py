"""TrainerLink: connected, lost and restored."""

import os
import signal

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


def test_a_killed_daemon_is_restarted(
    link: TrainerLink, daemon: DaemonUnderTest, qtbot: QtBot
) -> None:
    """The state is `LOST`, and the same client recovers with a new daemon."""
    client = link.client
    endpoint = Endpoint.read(daemon.home.endpoint)
    assert endpoint is not None

    os.kill(endpoint.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: link.state is LinkState.LOST, timeout=TIMEOUT_MS)
    assert link.problem is not None
    assert link.problem.remedy

    with qtbot.waitSignal(link.recovered, timeout=TIMEOUT_MS):
        link.start_daemon()

    assert link.is_ready
    assert link.client is client
    client.shutdown()


def test_without_a_daemon_the_link_fails(
    tmp_path_factory: pytest.TempPathFactory, qtbot: QtBot
) -> None:
    """If it must not start a daemon, the problem has a remedy."""
    link = TrainerLink(Home(tmp_path_factory.mktemp("empty")))
    link.open(start=False)

    qtbot.waitUntil(lambda: link.state is LinkState.FAILED, timeout=TIMEOUT_MS)

    assert link.problem is not None
    assert link.problem.remedy
    link.close()
    assert link.join(10)
