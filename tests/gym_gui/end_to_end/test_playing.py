"""Playing in the whole window: by hand, beside an agent, once more, and closed in the middle."""

import threading

import pytest
from PySide6.QtCore import Qt

from gym_gui.live.model.steps_table import StepColumn
from mosaic.client import TrainerClient
from mosaic.contract.run_states import RunState
from tests.gym_gui.end_to_end.person import TO_THE_GOAL, Person
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_THREADS = {"session", "trainer link"}


def test_frozen_lake_is_played_to_the_goal_with_the_keys(person: Person) -> None:
    """The card says how it ended, the run is in the list, and Enter plays the same start again."""
    play, card = person.models.play, person.play_bar.episode_card
    run_id = person.play("FrozenLake-v1", is_slippery=False)
    person.wait(lambda: person.centre.current == "grid" and play.has_keyboard)
    assert person.play_bar.actor_mark.text == "You are acting"

    person.walk()

    person.wait(card.isVisible)
    assert card.accessibleName() == "Reached the goal, return 1 in 6 steps"
    person.wait(lambda: person.models.runs.by_id(run_id) is not None)
    person.bench.runs_view.select(run_id)
    assert [run.run_id for run in person.bench.runs_view.selected_runs()] == [run_id]
    seed, episode = play.score.seed, play.step_view.episode_id

    person.press(Qt.Key.Key_Return)
    person.wait(lambda: not play.is_episode_finished and play.step_view.episode_id != episode)
    assert play.score.seed == seed
    person.walk()
    person.wait(card.isVisible)
    person.click_on("Restart with the same seed")
    person.wait(lambda: not play.is_episode_finished)
    assert play.score.seed == seed
    person.command("session.stop")
    person.wait(lambda: not play.is_on)


def test_a_person_takes_over_with_one_key_and_gives_back(person: Person) -> None:
    """The bar says who acts at every moment, and each stored step says who chose it."""
    play, mark = person.models.play, person.play_bar.actor_mark
    run_id = person.play("FrozenLake-v1", mode="hybrid", actor="random", is_slippery=False)
    person.wait(lambda: play.has_keyboard and play.step_view.step >= 0)
    assert not play.person_acts
    assert "You" not in mark.text

    person.press(Qt.Key.Key_T)
    person.wait(lambda: play.person_acts)
    assert mark.text.startswith("You are acting")
    if play.is_episode_finished:
        person.press(Qt.Key.Key_R)
        person.wait(lambda: not play.is_episode_finished)
    episode, before = play.step_view.episode_id, play.step_view.step
    person.press(Qt.Key.Key_Left)  # against the wall: it never ends an episode
    person.wait(lambda: play.step_view.episode_id == episode and play.step_view.step > before)
    person.press(Qt.Key.Key_T)
    person.wait(lambda: not play.person_acts and play.step_view.episode_id != episode)
    assert not mark.text.startswith("You are acting")
    person.command("session.stop")
    person.wait(lambda: not play.is_on)

    with TrainerClient.connect(person.bench.link.home, start=False) as client:
        kept = [
            (each.episode, step)
            for each in client.episodes_page(run_id).episodes
            for step in client.episode_steps(run_id, each.episode)
        ]
    mine = [(number, step) for number, step in kept if step.actor == "human"]
    assert [(step.episode_id, step.step) for _, step in mine] == [(episode, before + 1)]
    assert {step.actor for _, step in kept} == {"human", "random"}
    person.models.live.pin_episode(mine[0][0])
    steps = person.models.live.steps
    person.wait(lambda: steps.rowCount() > before + 1)
    shown = steps.index(before + 1, StepColumn.ACTOR)
    person.wait(lambda: shown.data() == "you")


def test_closing_the_window_ends_the_session_and_loses_nothing(
    person: Person, shared_daemon: DaemonUnderTest
) -> None:
    """The run is over, every step that was played is stored, and no thread or timer goes on."""
    run_id = person.play("FrozenLake-v1", is_slippery=False)
    assert _THREADS & {thread.name for thread in threading.enumerate()}
    person.walk(TO_THE_GOAL[:4])

    person.leave()

    record = shared_daemon.until(run_id, RunState.CANCELLED)
    assert record.reason == "Stopped by the user."
    with TrainerClient.connect(shared_daemon.home, start=False) as client:
        assert [step.step for step in client.episode_steps(run_id, 0)] == [0, 1, 2, 3]
    assert not _THREADS & {thread.name for thread in threading.enumerate()}
    assert person.timers_left == []
