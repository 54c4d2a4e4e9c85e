"""ThumbnailCache: rendered once by the daemon, then read from the cache."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.session.feed.thumbnail_cache import ThumbnailCache
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import TIMEOUT_MS

_PNG = b"\x89PNG"


@pytest.mark.process
def test_rendered_once_and_cached(link: TrainerLink, tasks: Tasks, qtbot: QtBot) -> None:
    """A thumbnail is a PNG, stays cached without a daemon, and a failure is reported."""
    thumbnails = ThumbnailCache(link, tasks)
    thumbnails.request(["CartPole-v1", "NoSuchThing-v0"])
    qtbot.waitUntil(lambda: thumbnails.problem("NoSuchThing-v0") is not None, timeout=TIMEOUT_MS)
    png = thumbnails.png("CartPole-v1")
    assert png is not None
    assert png.startswith(_PNG)
    later = ThumbnailCache(TrainerLink(link.home), tasks)
    later.request(["NoSuchThing-v0", "CartPole-v1"])
    qtbot.waitUntil(lambda: later.png("CartPole-v1") == png, timeout=TIMEOUT_MS)


def test_only_visible_thumbnails_are_fetched(tmp_path: Path, tasks: Tasks, qtbot: QtBot) -> None:
    """A thumbnail that is no longer visible is not fetched."""
    folder = tmp_path / "cache" / "pictures"
    thumbnails = ThumbnailCache(TrainerLink(Home(tmp_path)), tasks)
    thumbnails.request(["A-v0", "B-v0"])
    thumbnails.request(["C-v0"])
    qtbot.waitUntil(lambda: not tasks.is_busy, timeout=TIMEOUT_MS)
    assert not folder.exists()
    assert thumbnails.png("B-v0") is None
    assert thumbnails.problem("C-v0") is None
