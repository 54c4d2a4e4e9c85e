"""Sessions in the complete window: human, hybrid, repeated, and closed during a session."""

import threading

import pytest
from PySide6.QtCore import Qt

from gym_gui.live.model.steps_table import StepColumn
from mosaic.client import TrainerClient
from mosaic.contract.run_states import RunState
from tests.gym_gui.end_to_end.window_driver import PATH_TO_GOAL, WindowDriver
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_THREADS = {"session", "trainer link"}


def test_play_frozen_lake_to_the_goal(driver: WindowDriver) -> None:
    """The card shows the result, the run is listed, and Enter repeats the same seed."""
    play, card = driver.models.play, driver.play_bar.episode_card
    run_id = driver.play("FrozenLake-v1", is_slippery=False)
    driver.wait(lambda: driver.centre.current == "grid" and play.has_keyboard)
    assert driver.play_bar.actor_mark.text == "You are acting"

    driver.walk()

    driver.wait(card.isVisible)
    assert card.accessibleName() == "Reached the goal, return 1 in 6 steps"
    driver.wait(lambda: driver.models.runs.by_id(run_id) is not None)
    driver.context.runs_view.select(run_id)
    assert [run.run_id for run in driver.context.runs_view.selected_runs()] == [run_id]
    seed, episode = play.score.seed, play.step_view.episode_id

    driver.press(Qt.Key.Key_Return)
    driver.wait(lambda: not play.is_episode_finished and play.step_view.episode_id != episode)
    assert play.score.seed == seed
    driver.walk()
    driver.wait(card.isVisible)
    driver.click_on("Restart with the same seed")
    driver.wait(lambda: not play.is_episode_finished)
    assert play.score.seed == seed
    driver.command("session.stop")
    driver.wait(lambda: not play.is_on)


def test_take_over_and_release_control(driver: WindowDriver) -> None:
    """The bar shows the current actor, and each stored step has its actor."""
    play, mark = driver.models.play, driver.play_bar.actor_mark
    run_id = driver.play("FrozenLake-v1", mode="hybrid", actor="random", is_slippery=False)
    driver.wait(lambda: play.has_keyboard and play.step_view.step >= 0)
    assert not play.person_acts
    assert "You" not in mark.text

    driver.press(Qt.Key.Key_T)
    driver.wait(lambda: play.person_acts)
    assert mark.text.startswith("You are acting")
    if play.is_episode_finished:
        driver.press(Qt.Key.Key_R)
        driver.wait(lambda: not play.is_episode_finished)
    episode, before = play.step_view.episode_id, play.step_view.step
    driver.press(Qt.Key.Key_Left)  # against the wall: the episode continues
    driver.wait(lambda: play.step_view.episode_id == episode and play.step_view.step > before)
    driver.press(Qt.Key.Key_T)
    driver.wait(lambda: not play.person_acts and play.step_view.episode_id != episode)
    assert not mark.text.startswith("You are acting")
    driver.command("session.stop")
    driver.wait(lambda: not play.is_on)

    with TrainerClient.connect(driver.context.link.home, start=False) as client:
        stored = [
            (episode_record.episode, step)
            for episode_record in client.episodes_page(run_id).episodes
            for step in client.episode_steps(run_id, episode_record.episode)
        ]
    own = [(number, step) for number, step in stored if step.actor == "human"]
    assert [(step.episode_id, step.step) for _, step in own] == [(episode, before + 1)]
    assert {step.actor for _, step in stored} == {"human", "random"}
    driver.models.live.pin_episode(own[0][0])
    steps = driver.models.live.steps
    driver.wait(lambda: steps.rowCount() > before + 1)
    cell = steps.index(before + 1, StepColumn.ACTOR)
    driver.wait(lambda: cell.data() == "you")


def test_closing_the_window_stops_the_session(
    driver: WindowDriver, shared_daemon: DaemonUnderTest
) -> None:
    """The run is finished, all steps are stored, and no thread or timer is left."""
    run_id = driver.play("FrozenLake-v1", is_slippery=False)
    assert _THREADS & {thread.name for thread in threading.enumerate()}
    driver.walk(PATH_TO_GOAL[:4])

    driver.close()

    record = shared_daemon.until(run_id, RunState.CANCELLED)
    assert record.reason == "Stopped by the user."
    with TrainerClient.connect(shared_daemon.home, start=False) as client:
        assert [step.step for step in client.episode_steps(run_id, 0)] == [0, 1, 2, 3]
    assert not _THREADS & {thread.name for thread in threading.enumerate()}
    assert driver.active_timers == []
