"""StepInspector: what one step says."""

from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.inspector.view.step_inspector import StepInspector
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.contract.events import EnvironmentEvent, EpisodeStart, StepRecord

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)

LANDER = EnvironmentEvent(
    env_id="LunarLander-v3", action_space={"type": "discrete", "n": 4, "start": 0}
)


def step(**fields: Any) -> StepRecord:
    given: dict[str, Any] = {
        "episode_id": "ep0",
        "step": 193,
        "action": 2,
        "reward": 1.84,
        "terminated": False,
        "truncated": False,
        "obs": [0.1] * 8,
        "actor": "human",
    }
    return StepRecord(**(given | fields))


def words(inspector: StepInspector) -> list[str]:
    return [label.text() for label in inspector.findChildren(QLabel) if label.isVisible()]


def shown(qtbot: QtBot, theme: ThemeModel) -> StepInspector:
    inspector = StepInspector(theme)
    qtbot.addWidget(inspector)
    inspector.resize(400, 800)
    inspector.show()
    return inspector


def test_a_step_is_told_in_words(qtbot: QtBot, theme: ThemeModel) -> None:
    """The action with its meaning, the reward with its sign, and who acted."""
    inspector = shown(qtbot, theme)
    inspector.show_step(step(), LANDER, 61.3)
    assert {"Step 193", "2 · main engine", "+1.84", "61.3", "you"} <= set(words(inspector))
    inspector.show_step(step(), LANDER, 61.3, episode=2946)
    assert "Episode 2,946 · step 193" in words(inspector)


def test_beliefs_and_prompts_stand_there_only_when_there_are_any(
    qtbot: QtBot, theme: ThemeModel
) -> None:
    """A step of a plain agent has no empty sections."""
    inspector = shown(qtbot, theme)
    texts = {each.accessibleName(): each for each in inspector.findChildren(QPlainTextEdit)}
    inspector.show_step(step(bdi={"beliefs": ["at(3, 4)"]}, llm="Where to?"), LANDER, None)
    assert "at(3, 4)" in texts["Beliefs"].toPlainText()
    assert texts["Prompts"].toPlainText() == "Where to?"
    inspector.show_step(step(), LANDER, 0.0)
    assert not texts["Beliefs"].isVisible()
    assert not texts["Prompts"].isVisible()
    assert not texts["Info"].isVisible()


def test_the_whole_step_can_be_copied(qtbot: QtBot, theme: ThemeModel) -> None:
    """As the JSON line that it was."""
    inspector = shown(qtbot, theme)
    inspector.show_step(step(), LANDER, 0.0)
    copy = next(
        button
        for button in inspector.findChildren(QToolButton)
        if button.accessibleName() == "Copy the whole step as JSON"
    )
    copy.click()
    assert '"step":193' in QGuiApplication.clipboard().text()


def test_before_the_first_step_it_shows_the_start(qtbot: QtBot, theme: ThemeModel) -> None:
    """And without anything to show it says what will stand there."""
    inspector = shown(qtbot, theme)
    assert any(text.startswith("No step yet") for text in words(inspector))
    inspector.show_start(EpisodeStart(episode_id="ep0", obs=[0.0] * 8), LANDER)
    assert "Start of the episode" in words(inspector)
