"""Replay in the complete window: exact, step by step, best and worst episode."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel

from gym_gui.replay.view.reward_timeline import RewardTimeline
from tests.gym_gui.end_to_end.window_driver import WindowDriver

pytestmark = pytest.mark.process


def test_a_session_is_replayed_exactly(driver: WindowDriver) -> None:
    """Rewards are identical; keys and timeline seek; the inspector shows each step."""
    play, replay = driver.models.play, driver.models.replay
    run_id = driver.play("FrozenLake-v1", is_slippery=False)
    driver.walk()
    driver.wait(lambda: play.is_episode_finished)
    first = play.step_view.episode_id
    driver.press(Qt.Key.Key_Return)
    driver.wait(lambda: play.step_view.episode_id != first)
    driver.walk(("down", "right"))  # into a hole
    driver.wait(lambda: play.is_episode_finished)
    driver.command("session.stop")
    driver.wait(lambda: not play.is_on)

    driver.context.runs_view.select(run_id)
    driver.command("run.replay")
    driver.wait(lambda: replay.state.is_checked)
    assert driver.centre.current == "replay"
    assert replay.status is not None
    assert replay.status.headline == "exact"

    driver.click_on("Best")
    driver.wait(lambda: replay.episode == 0 and replay.state.is_checked)
    assert replay.steps == 6
    assert replay.status.text == "6 of 6 rewards identical"
    driver.context.replay_page.setFocus()
    driver.press(Qt.Key.Key_End)
    driver.wait(lambda: replay.playhead == 6 and replay.is_frame_current)
    driver.wait(lambda: "Episode 0 · step 5 · terminated" in inspector_texts(driver))
    assert {"+1", "you"} <= set(inspector_texts(driver))
    assert any("right" in text.lower() for text in inspector_texts(driver))
    driver.press(Qt.Key.Key_Left, Qt.Key.Key_Left)
    step_title = "Episode 0 · step 3"
    driver.wait(lambda: replay.playhead == 4 and step_title in inspector_texts(driver))
    driver.centre.show_group("analyse")
    assert step_title in inspector_texts(driver)  # the same run, and no other step was selected
    driver.centre.show_tab("replay")

    timeline = driver.window.findChild(RewardTimeline)
    assert isinstance(timeline, RewardTimeline)
    driver.click(timeline, QPoint(2, timeline.height() // 2))
    driver.wait(lambda: replay.playhead == 0 and replay.is_frame_current)

    driver.click_on("Worst")
    driver.wait(lambda: replay.episode == 1 and replay.state.is_checked)
    assert replay.steps == 2


def inspector_texts(driver: WindowDriver) -> list[str]:
    """The texts of the inspector."""
    labels = driver.context.inspector.findChildren(QLabel)
    return [label.text() for label in labels if label.isVisible()]
