"""A window with a real session: keys reach the environment, typed text does not."""

from collections.abc import Iterator
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QTabWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.keyboard_focus import KeyboardFocus
from gym_gui.play.view.play_area import PlayArea
from gym_gui.play.view.play_bar import PlayBar
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.session_service import SessionRequest, SessionService
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from tests.gym_gui.conftest import TIMEOUT_MS

pytestmark = pytest.mark.process

KEYS = {"down": Qt.Key.Key_Down, "right": Qt.Key.Key_Right}


class PlayWindow:
    """A minimal window: the pages, the bar, and an input field."""

    def __init__(self, model: PlayModel, theme: ThemeModel) -> None:
        self.model = model
        self.window = QWidget()
        self.area = PlayArea(model, theme, self.window)
        self.bar = PlayBar(model, theme)
        self.field = QLineEdit()
        self.tabs = QTabWidget()
        for page in self.area.pages:
            self.tabs.addTab(page, page.accessibleName())
        layout = QVBoxLayout(self.window)
        for widget in (self.tabs, self.bar, self.field):
            layout.addWidget(widget)
        self.keyboard = KeyboardFocus(model, self.area, self.window)

    def has_keys(self) -> bool:
        return self.model.has_keyboard

    def held(self) -> tuple[str, ...]:
        return tuple(self.model.held_keys)

    def has_stepped(self, step: int) -> bool:
        return self.model.step_view.step >= step

    @property
    def focused(self) -> QWidget:
        return QApplication.focusWidget() or self.window


@pytest.fixture
def play_window(
    link: TrainerLink, ticker: UiTicker, theme: ThemeModel, qtbot: QtBot
) -> Iterator[PlayWindow]:
    sessions = SessionService(link, ticker)
    model = PlayModel(sessions, ticker)
    play_window = PlayWindow(model, theme)
    qtbot.addWidget(play_window.window)
    play_window.window.show()
    play_window.window.activateWindow()
    yield play_window
    sessions.close()
    assert sessions.join(20)


def test_keys_reach_the_environment_from_any_focus(play_window: PlayWindow, qtbot: QtBot) -> None:
    """Input fields keep their keys; Esc in a field, F2 and a click return the keyboard."""
    model, bar = play_window.model, play_window.bar
    model.start(SessionRequest(env_id="FrozenLake-v1", env_kwargs={"is_slippery": False}, seed=3))
    qtbot.waitUntil(lambda: model.has_keyboard and model.scene is not None, timeout=TIMEOUT_MS)
    assert bar.actor_mark.text == "You are acting"

    play_window.field.setFocus()
    assert not play_window.has_keys()
    QTest.keyClicks(play_window.field, "wasd")
    assert play_window.field.text() == "wasd"
    QTest.keyClick(play_window.field, Qt.Key.Key_Escape)
    assert play_window.has_keys()
    play_window.field.setFocus()
    QTest.keyClick(play_window.field, Qt.Key.Key_F2)
    assert play_window.has_keys()
    QTest.keyClick(play_window.focused, Qt.Key.Key_Tab)
    assert not play_window.has_keys()
    QTest.mouseClick(play_window.area.grid_page, Qt.MouseButton.LeftButton)
    assert play_window.has_keys()
    assert model.step_view.step == -1

    heights: list[int] = []
    path = ("down", "down", "right", "right", "down", "right")
    for step, key in enumerate(path):
        heights.append(bar.height())
        QTest.keyPress(play_window.focused, KEYS[key])
        assert model.is_key_lit(key)
        QTest.keyRelease(play_window.focused, KEYS[key])
        qtbot.waitUntil(partial(play_window.has_stepped, step), timeout=TIMEOUT_MS)
    qtbot.waitUntil(bar.episode_card.isVisible, timeout=TIMEOUT_MS)
    assert bar.episode_card.accessibleName() == "Reached the goal, return 1 in 6 steps"
    assert bar.score_line.texts[1:3] == ("6", "1.00")
    assert bar.height() == heights[-1]
    QTest.keyClick(play_window.focused, Qt.Key.Key_Space)
    QTest.keyClick(play_window.focused, Qt.Key.Key_N)
    expected = "Episode finished R starts a new episode"
    qtbot.waitUntil(lambda: bar.actor_mark.text == expected, timeout=TIMEOUT_MS)
    QTest.keyClick(play_window.focused, Qt.Key.Key_Return)
    qtbot.waitUntil(bar.key_hints.isVisible, timeout=TIMEOUT_MS)
    assert bar.actor_mark.text == "You are acting"
    assert bar.height() == heights[-1]
    assert not model.is_paused


def test_other_views_keep_their_keys_and_focus_loss_releases_keys(
    play_window: PlayWindow, qtbot: QtBot
) -> None:
    """A page outside of the session keeps its arrow keys; held keys are released."""
    model = play_window.model
    other_page = QWidget()
    other_page.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    play_window.tabs.addTab(other_page, "Replay")
    model.start(SessionRequest(env_id="LunarLander-v3", seed=3))
    qtbot.waitUntil(lambda: model.has_keyboard, timeout=TIMEOUT_MS)
    QTest.keyPress(play_window.focused, Qt.Key.Key_Up)
    assert play_window.held() == ("up",)
    play_window.tabs.setCurrentWidget(other_page)
    assert play_window.held() == ()
    assert not play_window.has_keys()
    QTest.keyClick(other_page, Qt.Key.Key_Up)
    assert play_window.held() == ()
    play_window.tabs.setCurrentWidget(play_window.area.frame_page)
    assert play_window.has_keys()


def test_a_real_time_session_waits_for_the_user(play_window: PlayWindow, qtbot: QtBot) -> None:
    """It starts with the first key, which is sent, and pauses behind another window."""
    model, mark = play_window.model, play_window.bar.actor_mark
    model.start(SessionRequest(env_id="LunarLander-v3", seed=3))
    qtbot.waitUntil(lambda: mark.text == "Press a key to start", timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: model.has_keyboard, timeout=TIMEOUT_MS)

    QTest.keyPress(play_window.focused, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: model.step is not None and model.step.action == 2, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: mark.text == "You are acting", timeout=TIMEOUT_MS)
    assert model.may_act

    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(lambda: model.is_paused, timeout=TIMEOUT_MS)
    expected = "Paused: the window is inactive. Space resumes."
    qtbot.waitUntil(lambda: mark.text == expected, timeout=TIMEOUT_MS)
    assert play_window.held() == ()

    play_window.window.activateWindow()
    qtbot.waitUntil(lambda: model.has_keyboard, timeout=TIMEOUT_MS)
    QTest.keyClick(play_window.focused, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: mark.text == "You are acting", timeout=TIMEOUT_MS)
