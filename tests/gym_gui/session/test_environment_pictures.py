"""EnvironmentPictures: drawn by the daemon once, and there without it from then on."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.session.feed.environment_pictures import EnvironmentPictures
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS

_PNG = b"\x89PNG"


@pytest.mark.process
def test_drawn_once_and_kept(link: TrainerLink, tasks: Tasks, qtbot: QtBot) -> None:
    """A picture comes as PNG, outlives the daemon, and an id without one says why."""
    pictures = EnvironmentPictures(link, tasks)
    pictures.want(["CartPole-v1", "NoSuchThing-v0"])
    qtbot.waitUntil(lambda: pictures.problem("NoSuchThing-v0") is not None, timeout=PATIENCE_MS)
    drawn = pictures.png("CartPole-v1")
    assert drawn is not None
    assert drawn.startswith(_PNG)
    later = EnvironmentPictures(TrainerLink(link.home), tasks)
    later.want(["NoSuchThing-v0", "CartPole-v1"])
    qtbot.waitUntil(lambda: later.png("CartPole-v1") == drawn, timeout=PATIENCE_MS)


def test_only_what_is_in_sight_is_fetched(tmp_path: Path, tasks: Tasks, qtbot: QtBot) -> None:
    """What scrolled out of sight before its turn is not looked for."""
    folder = tmp_path / "cache" / "pictures"
    pictures = EnvironmentPictures(TrainerLink(Home(tmp_path)), tasks)
    pictures.want(["A-v0", "B-v0"])
    pictures.want(["C-v0"])
    qtbot.waitUntil(lambda: not tasks.is_busy, timeout=PATIENCE_MS)
    assert not folder.exists()
    assert pictures.png("B-v0") is None
    assert pictures.problem("C-v0") is None
