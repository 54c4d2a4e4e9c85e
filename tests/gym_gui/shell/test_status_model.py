"""StatusModel: the daemon, its runs and the disk in a few words."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from gym_gui.shell.model import StatusModel, size_words
from gym_gui.shell.view.status_strip import StatusStrip
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest


@pytest.mark.process
def test_the_line_follows_the_daemon(
    daemon: DaemonUnderTest, link: TrainerLink, tasks: Tasks, theme: ThemeModel, qtbot: QtBot
) -> None:
    """Its address, the disk, and when it is lost words that can be clicked to start it again."""
    model = StatusModel(link, tasks)
    strip = StatusStrip(model, theme)
    qtbot.addWidget(strip)
    strip.resize(1400, 30)
    strip.show()
    health = link.health
    assert health is not None
    button = strip.findChildren(QPushButton)[0]
    assert button.text() == "Daemon running"
    assert model.status.runs.text == "no run active"
    qtbot.waitUntil(lambda: model.status.disk.text.startswith("Runs use"), timeout=PATIENCE_MS)
    link.changed.emit()
    assert not tasks.is_busy, "the disk is measured once a minute, however often the link looks"
    model.echo_actor("Human-Only")
    assert "Acting: Human-Only" in [label.text() for label in strip.findChildren(QLabel)]
    daemon.kill()
    qtbot.waitUntil(lambda: model.status.can_start_daemon, timeout=PATIENCE_MS)
    assert model.status.daemon.tone == "warning"
    assert button.text() == "Daemon lost: looking for it…"
    with qtbot.waitSignal(strip.start_requested):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_daemon_that_cannot_be_reached_says_why(
    tmp_path: Path, tasks: Tasks, theme: ThemeModel, qtbot: QtBot
) -> None:
    """The words invite a click, the tooltip has the reason and what to do; nothing is measured."""
    link = TrainerLink(Home(tmp_path))
    model = StatusModel(link, tasks)
    strip = StatusStrip(model, theme)
    qtbot.addWidget(strip)
    assert model.status.daemon.text == "Starting the daemon…"
    link.state = LinkState.FAILED
    link.problem = UserError("Port 50055 is taken.", remedy="Choose another one.")
    link.changed.emit()
    button = strip.findChildren(QPushButton)[0]
    assert button.text() == "No daemon: click to start it"
    assert button.toolTip() == "Port 50055 is taken. Choose another one."
    assert button.focusPolicy() == Qt.FocusPolicy.StrongFocus
    assert not tasks.is_busy


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 B"), (999, "999 B"), (1_800_000_000, "1.8 GB"), (5_300, "5.3 kB")]
)
def test_sizes_in_words(size: int, words: str) -> None:
    """Short, with the unit."""
    assert size_words(size) == words
