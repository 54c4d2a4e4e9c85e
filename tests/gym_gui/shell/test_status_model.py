"""StatusModel and StatusStrip: daemon, runs, actor and disk."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from gym_gui.shell.model import StatusModel
from gym_gui.shell.view.status_strip import StatusStrip
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest


@pytest.mark.process
def test_the_status_follows_the_daemon(
    daemon: DaemonUnderTest, link: TrainerLink, tasks: Tasks, theme: ThemeModel, qtbot: QtBot
) -> None:
    """It shows the address and the disk; a click on a lost daemon requests a start."""
    model = StatusModel(link, tasks)
    strip = StatusStrip(model, theme)
    qtbot.addWidget(strip)
    strip.resize(1400, 30)
    strip.show()
    health = link.health
    assert health is not None
    button = strip.findChildren(QPushButton)[0]
    assert button.text() == "Daemon running"
    assert model.status.runs.text == "no active runs"
    qtbot.waitUntil(lambda: model.status.disk.text.startswith("Runs use"), timeout=TIMEOUT_MS)
    link.changed.emit()
    assert not tasks.is_busy, "the disk usage is requested once a minute"
    model.set_actor("Human-Only")
    assert "Actor: Human-Only" in [label.text() for label in strip.findChildren(QLabel)]
    daemon.kill()
    qtbot.waitUntil(lambda: model.status.can_start_daemon, timeout=TIMEOUT_MS)
    assert model.status.daemon.tone == "warning"
    assert button.text() == "Daemon lost, reconnecting…"
    with qtbot.waitSignal(strip.start_requested):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_an_unreachable_daemon_has_a_reason(
    tmp_path: Path, tasks: Tasks, theme: ThemeModel, qtbot: QtBot
) -> None:
    """The tooltip has the reason and the remedy; no disk usage is requested."""
    link = TrainerLink(Home(tmp_path))
    model = StatusModel(link, tasks)
    strip = StatusStrip(model, theme)
    qtbot.addWidget(strip)
    assert model.status.daemon.text == "Starting the daemon…"
    link.state = LinkState.FAILED
    link.problem = UserError("Port 50055 is taken.", remedy="Choose another one.")
    link.changed.emit()
    button = strip.findChildren(QPushButton)[0]
    assert button.text() == "No daemon, click to start"
    assert button.toolTip() == "Port 50055 is taken. Choose another one."
    assert button.focusPolicy() == Qt.FocusPolicy.StrongFocus
    assert not tasks.is_busy
