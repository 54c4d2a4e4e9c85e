"""VideoPage: a run's videos, played by keys."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.runtime.video_files import VideoFile
from gym_gui.video.model import VideoModel
from gym_gui.video.view.video_page import VideoPage
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS
from tests.gym_gui.videos import write_video

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def video(path: Path) -> VideoFile:
    return VideoFile(path=path, title=path.stem, size_bytes=1_000, t=0.0, meta={"episode": 3})


@pytest.fixture
def model(tmp_path: Path, tasks: Tasks, ticker: UiTicker, notices: Notices) -> Iterator[VideoModel]:
    link = TrainerLink(Home(tmp_path))
    made = VideoModel(link, tasks, ticker, notices)
    made.videos = tuple(video(write_video(tmp_path / f"{name}.mp4", 30)) for name in "ab")
    yield made
    made.close()
    assert made.join(10)


@pytest.fixture
def page(model: VideoModel, theme: ThemeModel, qtbot: QtBot) -> VideoPage:
    made = VideoPage(model, theme)
    qtbot.addWidget(made)
    made.resize(700, 500)
    made.show()
    return made


def is_shown(model: VideoModel) -> bool:
    return model.phase == "ready" and model.is_frame_current


def test_keys_move_through_the_video_and_fill_the_screen(
    page: VideoPage, model: VideoModel, qtbot: QtBot
) -> None:
    """End, arrows, Space and F act on the page; the picture follows."""
    model.choose(model.videos[1].path)
    qtbot.waitUntil(lambda: is_shown(model), timeout=PATIENCE_MS)
    assert model.description.endswith("episode 3")
    canvas = page._player.canvas
    QTest.keyClick(canvas, Qt.Key.Key_End)
    assert model.playhead == 29
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    assert model.playhead == 28
    qtbot.waitUntil(lambda: is_shown(model), timeout=PATIENCE_MS)
    QTest.keyClick(canvas, Qt.Key.Key_F)
    assert page.is_full_screen
    QTest.keyClick(canvas, Qt.Key.Key_Home)
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: model.playhead > 2, timeout=PATIENCE_MS)
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not page.is_full_screen, timeout=PATIENCE_MS)
    assert page._player.isVisible()


def test_nothing_is_decoded_before_somebody_looks(
    page: VideoPage, model: VideoModel, qtbot: QtBot
) -> None:
    """The tab knows that there is a video; its pictures come when it is opened."""
    page.hide()
    model.choose(model.videos[0].path)
    assert model.has_video
    assert model.info is None
    page.show()
    qtbot.waitUntil(lambda: is_shown(model), timeout=PATIENCE_MS)


def test_a_file_that_is_gone_says_so_and_can_be_tried_again(
    page: VideoPage, model: VideoModel, qtbot: QtBot
) -> None:
    """The message stands where the picture would be; once the file is back it plays."""
    path = model.videos[0].path
    content = path.read_bytes()
    path.unlink()
    model.choose(path)
    qtbot.waitUntil(lambda: model.phase == "failed", timeout=PATIENCE_MS)
    assert page._empty.isVisible()
    path.write_bytes(content)
    page._empty.acted.emit()
    qtbot.waitUntil(lambda: is_shown(model), timeout=PATIENCE_MS)
    assert page._player.isVisible()
