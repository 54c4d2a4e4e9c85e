"""What was played is replayed in the whole window: exactly, step by step, best and worst."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel

from gym_gui.replay.view.reward_timeline import RewardTimeline
from tests.gym_gui.end_to_end.person import Person

pytestmark = pytest.mark.process


def test_what_was_played_is_replayed_exactly(person: Person) -> None:
    """Every reward is checked; keys and the timeline move it, and the inspector says each step."""
    play, replay = person.models.play, person.models.replay
    run_id = person.play("FrozenLake-v1", is_slippery=False)
    person.walk()
    person.wait(lambda: play.is_episode_finished)
    first = play.step_view.episode_id
    person.press(Qt.Key.Key_Return)
    person.wait(lambda: play.step_view.episode_id != first)
    person.walk(("down", "right"))  # into a hole
    person.wait(lambda: play.is_episode_finished)
    person.command("session.stop")
    person.wait(lambda: not play.is_on)

    person.bench.runs_view.select(run_id)
    person.command("run.replay")
    person.wait(lambda: replay.state.is_checked)
    assert person.centre.current == "replay"
    assert replay.status is not None
    assert replay.status.headline == "exact"

    person.click_on("Best")
    person.wait(lambda: replay.episode == 0 and replay.state.is_checked)
    assert replay.steps == 6
    assert replay.status.text == "6 of 6 rewards identical"
    person.bench.replay_page.setFocus()
    person.press(Qt.Key.Key_End)
    person.wait(lambda: replay.playhead == 6 and replay.is_frame_current)
    person.wait(lambda: "Episode 0 · step 5 · terminated" in words_of(person))
    assert {"+1", "you"} <= set(words_of(person))
    assert any("right" in words.lower() for words in words_of(person))
    person.press(Qt.Key.Key_Left, Qt.Key.Key_Left)
    shown = "Episode 0 · step 3"
    person.wait(lambda: replay.playhead == 4 and shown in words_of(person))
    person.centre.show_group("analyse")
    assert shown in words_of(person)  # it is the same run, and no other step was asked for
    person.centre.show_tab("replay")

    timeline = person.window.findChild(RewardTimeline)
    assert isinstance(timeline, RewardTimeline)
    person.click(timeline, QPoint(2, timeline.height() // 2))
    person.wait(lambda: replay.playhead == 0 and replay.is_frame_current)

    person.click_on("Worst")
    person.wait(lambda: replay.episode == 1 and replay.state.is_checked)
    assert replay.steps == 2


def words_of(person: Person) -> list[str]:
    """What the inspector shows."""
    labels = person.bench.inspector.findChildren(QLabel)
    return [label.text() for label in labels if label.isVisible()]
