"""StepInspector: the fields of one step."""

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
    defaults: dict[str, Any] = {
        "episode_id": "ep0",
        "step": 193,
        "action": 2,
        "reward": 1.84,
        "terminated": False,
        "truncated": False,
        "obs": [0.1] * 8,
        "actor": "human",
    }
    return StepRecord(**(defaults | fields))


def label_texts(inspector: StepInspector) -> list[str]:
    return [label.text() for label in inspector.findChildren(QLabel) if label.isVisible()]


def show_inspector(qtbot: QtBot, theme: ThemeModel) -> StepInspector:
    inspector = StepInspector(theme)
    qtbot.addWidget(inspector)
    inspector.resize(400, 800)
    inspector.show()
    return inspector


def test_step_is_shown_as_text(qtbot: QtBot, theme: ThemeModel) -> None:
    """The action has its meaning, the reward its sign, and the actor its label."""
    inspector = show_inspector(qtbot, theme)
    inspector.show_step(step(), LANDER, 61.3)
    assert {"Step 193", "2 · main engine", "+1.84", "61.3", "you"} <= set(label_texts(inspector))
    inspector.show_step(step(), LANDER, 61.3, episode=2946)
    assert "Episode 2,946 · step 193" in label_texts(inspector)


def test_beliefs_and_prompts_are_hidden_if_empty(qtbot: QtBot, theme: ThemeModel) -> None:
    """A step without them has no empty sections."""
    inspector = show_inspector(qtbot, theme)
    edits = inspector.findChildren(QPlainTextEdit)
    texts = {edit.accessibleName(): edit for edit in edits}
    inspector.show_step(step(bdi={"beliefs": ["at(3, 4)"]}, llm="Where to?"), LANDER, None)
    assert "at(3, 4)" in texts["Beliefs"].toPlainText()
    assert texts["Prompts"].toPlainText() == "Where to?"
    inspector.show_step(step(), LANDER, 0.0)
    assert not texts["Beliefs"].isVisible()
    assert not texts["Prompts"].isVisible()
    assert not texts["Info"].isVisible()


def test_step_is_copied_as_json(qtbot: QtBot, theme: ThemeModel) -> None:
    """The clipboard has all its fields."""
    inspector = show_inspector(qtbot, theme)
    inspector.show_step(step(), LANDER, 0.0)
    copy = next(
        button
        for button in inspector.findChildren(QToolButton)
        if button.accessibleName() == "Copy the step as JSON"
    )
    copy.click()
    assert '"step":193' in QGuiApplication.clipboard().text()


def test_start_is_shown_before_the_first_step(qtbot: QtBot, theme: ThemeModel) -> None:
    """Without a step or a start there is a placeholder."""
    inspector = show_inspector(qtbot, theme)
    assert any(text.startswith("No step yet") for text in label_texts(inspector))
    inspector.show_start(EpisodeStart(episode_id="ep0", obs=[0.0] * 8), LANDER)
    assert "Start of the episode" in label_texts(inspector)
