"""PlayModel with a real daemon: keys to the goal, restart, and takeover from an agent."""

from collections.abc import Iterator
from functools import partial

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.play.model.play_model import PlayModel
from gym_gui.runtime.session_service import SessionRequest, SessionService
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.envs.scenes.scene import GridScene
from tests.gym_gui.conftest import TIMEOUT_MS

pytestmark = pytest.mark.process

LAKE = SessionRequest(env_id="FrozenLake-v1", env_kwargs={"is_slippery": False}, seed=3)


@pytest.fixture
def model(link: TrainerLink, ticker: UiTicker) -> Iterator[PlayModel]:
    sessions = SessionService(link, ticker)
    yield PlayModel(sessions, ticker)
    sessions.close()
    assert sessions.join(20)


def has_stepped(model: PlayModel, step: int) -> bool:
    return model.step_view.step >= step


def test_the_user_reaches_the_goal_and_restarts_with_the_same_seed(
    model: PlayModel, qtbot: QtBot
) -> None:
    """The outcome stays visible until the user starts the next episode."""
    model.start(LAKE)
    qtbot.waitUntil(lambda: model.may_act and model.scene is not None, timeout=TIMEOUT_MS)
    for step, key in enumerate(("down", "down", "right", "right", "down", "right")):
        assert model.press(key)
        assert model.is_key_lit(key)
        model.release_key(key)
        qtbot.waitUntil(partial(has_stepped, model, step), timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: model.is_episode_finished, timeout=TIMEOUT_MS)
    assert model.outcome == "Reached the goal"
    assert (model.score.steps, model.score.total_return, model.score.seed) == (6, 1.0, 3)
    qtbot.waitUntil(lambda: model.visits.counts[3, 3] == 1, timeout=TIMEOUT_MS)
    assert model.press("enter")
    qtbot.waitUntil(lambda: model.score.ordinal == 1, timeout=TIMEOUT_MS)
    assert model.score.seed == 3
    scene = model.scene
    assert isinstance(scene, GridScene)
    assert scene.agent is not None
    assert (scene.agent.row, scene.agent.column) == (0, 0)


def test_the_user_takes_over_from_an_agent_and_releases(model: PlayModel, qtbot: QtBot) -> None:
    """Before the takeover keys only set a hint; after it they act and the agent waits."""
    model.start(SessionRequest(env_id="MountainCar-v0", actor="random", seed=3))
    qtbot.waitUntil(lambda: model.is_playing and model.frame is not None, timeout=TIMEOUT_MS)
    assert not model.person_acts
    assert model.press("right")
    assert model.hint == "Press T first to take over"
    assert model.press("t")
    qtbot.waitUntil(lambda: model.person_acts, timeout=TIMEOUT_MS)
    model.press("right")

    def person_pushed() -> bool:
        step = model.step
        return step is not None and step.actor == "human" and step.action == 2

    qtbot.waitUntil(person_pushed, timeout=TIMEOUT_MS)
    model.release_key("right")
    assert not model.has_scene
    assert model.no_scene_reason
    model.press("t")
    qtbot.waitUntil(lambda: not model.person_acts, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: model.step is not None and model.step.actor == "random")
