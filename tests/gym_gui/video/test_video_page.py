"""VideoPage: plays the videos of a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.run_metadata import VideoFile
from gym_gui.video.model import VideoModel
from gym_gui.video.view import VideoPage
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.gym_gui.video_files import write_video

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def video(path: Path) -> VideoFile:
    return VideoFile(path=path, title=path.stem, size_bytes=1_000, t=0.0, meta={"episode": 3})


@pytest.fixture
def model(tmp_path: Path, offline_services: Services) -> Iterator[VideoModel]:
    model = VideoModel(offline_services)
    model.videos = tuple(video(write_video(tmp_path / f"{name}.mp4", 30)) for name in "ab")
    yield model
    model.close()
    assert model.join(10)


@pytest.fixture
def page(model: VideoModel, theme: ThemeModel, qtbot: QtBot) -> VideoPage:
    page = VideoPage(model, theme)
    qtbot.addWidget(page)
    page.resize(700, 500)
    page.show()
    return page


def has_frame(model: VideoModel) -> bool:
    return model.phase == "ready" and model.is_frame_current


def test_keys_move_the_playhead_and_toggle_full_screen(
    page: VideoPage, model: VideoModel, qtbot: QtBot
) -> None:
    """End, arrows, Home, Space, F and Esc work on the page."""
    model.select(model.videos[1].path)
    qtbot.waitUntil(lambda: has_frame(model), timeout=TIMEOUT_MS)
    assert model.description.endswith("episode 3")
    canvas = page._player.canvas
    QTest.keyClick(canvas, Qt.Key.Key_End)
    assert model.playhead == 29
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    assert model.playhead == 28
    qtbot.waitUntil(lambda: has_frame(model), timeout=TIMEOUT_MS)
    QTest.keyClick(canvas, Qt.Key.Key_F)
    assert page.is_full_screen
    QTest.keyClick(canvas, Qt.Key.Key_Home)
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: model.playhead > 2, timeout=TIMEOUT_MS)
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not page.is_full_screen, timeout=TIMEOUT_MS)
    assert page._player.isVisible()


def test_hidden_page_decodes_nothing(page: VideoPage, model: VideoModel, qtbot: QtBot) -> None:
    """The video is listed, but decoded only once the page is visible."""
    page.hide()
    model.select(model.videos[0].path)
    assert model.has_video
    assert model.info is None
    page.show()
    qtbot.waitUntil(lambda: has_frame(model), timeout=TIMEOUT_MS)


def test_missing_file_can_be_retried(page: VideoPage, model: VideoModel, qtbot: QtBot) -> None:
    """The page shows the error; once the file exists again, it plays."""
    path = model.videos[0].path
    content = path.read_bytes()
    path.unlink()
    model.select(path)
    qtbot.waitUntil(lambda: model.phase == "failed", timeout=TIMEOUT_MS)
    assert page._empty.isVisible()
    path.write_bytes(content)
    page._empty.action_triggered.emit()
    qtbot.waitUntil(lambda: has_frame(model), timeout=TIMEOUT_MS)
    assert page._player.isVisible()
