"""A window around a real session: keys reach the environment, and nothing that is typed does."""

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
from tests.gym_gui.conftest import PATIENCE_MS

pytestmark = pytest.mark.process

KEYS = {"down": Qt.Key.Key_Down, "right": Qt.Key.Key_Right}


class Played:
    """A window as small as it can be: the pages, the bar, and a field to type into."""

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
        return self.model.moment.step >= step

    @property
    def focused(self) -> QWidget:
        return QApplication.focusWidget() or self.window


@pytest.fixture
def played(link: TrainerLink, pulse: UiTicker, theme: ThemeModel, qtbot: QtBot) -> Iterator[Played]:
    sessions = SessionService(link, pulse)
    model = PlayModel(sessions, pulse)
    made = Played(model, theme)
    qtbot.addWidget(made.window)
    made.window.show()
    made.window.activateWindow()
    yield made
    sessions.close()
    assert sessions.join(20)


def test_keys_lead_to_the_goal_from_wherever_the_focus_is(played: Played, qtbot: QtBot) -> None:
    """Typing is never taken; Esc in a field, F2 and a click give the keys back."""
    model, bar = played.model, played.bar
    model.start(SessionRequest(env_id="FrozenLake-v1", env_kwargs={"is_slippery": False}, seed=3))
    qtbot.waitUntil(lambda: model.has_keyboard and model.scene is not None, timeout=PATIENCE_MS)
    assert bar.actor_mark.words == "You are acting"

    played.field.setFocus()
    assert not played.has_keys()
    QTest.keyClicks(played.field, "wasd")
    assert played.field.text() == "wasd"
    QTest.keyClick(played.field, Qt.Key.Key_Escape)
    assert played.has_keys()
    played.field.setFocus()
    QTest.keyClick(played.field, Qt.Key.Key_F2)
    assert played.has_keys()
    QTest.keyClick(played.focused, Qt.Key.Key_Tab)
    assert not played.has_keys()
    QTest.mouseClick(played.area.grid_page, Qt.MouseButton.LeftButton)
    assert played.has_keys()
    assert model.moment.step == -1

    heights: list[int] = []
    path = ("down", "down", "right", "right", "down", "right")
    for step, key in enumerate(path):
        heights.append(bar.height())
        QTest.keyPress(played.focused, KEYS[key])
        assert model.is_key_lit(key)
        QTest.keyRelease(played.focused, KEYS[key])
        qtbot.waitUntil(partial(played.has_stepped, step), timeout=PATIENCE_MS)
    qtbot.waitUntil(bar.episode_card.isVisible, timeout=PATIENCE_MS)
    assert bar.episode_card.accessibleName() == "Reached the goal, return 1 in 6 steps"
    assert bar.score_line.texts[1:3] == ("6", "1.00")
    assert bar.height() == heights[-1]
    QTest.keyClick(played.focused, Qt.Key.Key_Space)
    QTest.keyClick(played.focused, Qt.Key.Key_N)
    said = "Episode over R begins a new episode"
    qtbot.waitUntil(lambda: bar.actor_mark.words == said, timeout=PATIENCE_MS)
    QTest.keyClick(played.focused, Qt.Key.Key_Return)
    qtbot.waitUntil(bar.key_hints.isVisible, timeout=PATIENCE_MS)
    assert bar.actor_mark.words == "You are acting"
    assert bar.height() == heights[-1]
    assert not model.is_paused


def test_keys_stay_with_other_views_and_are_let_go_with_the_focus(
    played: Played, qtbot: QtBot
) -> None:
    """A page that is not of the session keeps its arrow keys; a key held meanwhile goes up."""
    model = played.model
    elsewhere = QWidget()
    elsewhere.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    played.tabs.addTab(elsewhere, "Replay")
    model.start(SessionRequest(env_id="LunarLander-v3", seed=3))
    qtbot.waitUntil(lambda: model.has_keyboard, timeout=PATIENCE_MS)
    QTest.keyPress(played.focused, Qt.Key.Key_Up)
    assert played.held() == ("up",)
    played.tabs.setCurrentWidget(elsewhere)
    assert played.held() == ()
    assert not played.has_keys()
    QTest.keyClick(elsewhere, Qt.Key.Key_Up)
    assert played.held() == ()
    played.tabs.setCurrentWidget(played.area.frame_page)
    assert played.has_keys()


def test_a_game_in_real_time_waits_for_whoever_plays_it(played: Played, qtbot: QtBot) -> None:
    """It begins with the first key, which counts, and stands still behind another window."""
    model, mark = played.model, played.bar.actor_mark
    model.start(SessionRequest(env_id="LunarLander-v3", seed=3))
    qtbot.waitUntil(lambda: mark.words == "Press a key to begin", timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: model.has_keyboard, timeout=PATIENCE_MS)

    QTest.keyPress(played.focused, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: model.step is not None and model.step.action == 2, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: mark.words == "You are acting", timeout=PATIENCE_MS)
    assert model.may_act

    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(lambda: model.is_paused, timeout=PATIENCE_MS)
    said = "Paused: this window was not in front. Space goes on."
    qtbot.waitUntil(lambda: mark.words == said, timeout=PATIENCE_MS)
    assert played.held() == ()

    played.window.activateWindow()
    qtbot.waitUntil(lambda: model.has_keyboard, timeout=PATIENCE_MS)
    QTest.keyClick(played.focused, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: mark.words == "You are acting", timeout=PATIENCE_MS)
