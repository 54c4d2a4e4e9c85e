"""SessionPanelModel with a real daemon: who can act, and sessions that begin as chosen."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.session_service import SessionPhase, SessionService
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.session.feed.environment_pictures import EnvironmentPictures
from gym_gui.session.model.session_panel_model import SessionPanelModel
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS
from tests.gym_gui.remembered import Remembered

pytestmark = pytest.mark.process


@pytest.fixture
def sessions(link: TrainerLink, pulse: UiTicker) -> Iterator[SessionService]:
    made = SessionService(link, pulse)
    yield made
    made.close()
    assert made.join(30)


@pytest.fixture
def make_model(
    link: TrainerLink, tasks: Tasks, notices: Notices, sessions: SessionService, qtbot: QtBot
) -> Callable[[Remembered], SessionPanelModel]:
    def make(memory: Remembered) -> SessionPanelModel:
        pictures = EnvironmentPictures(link, tasks)
        model = SessionPanelModel(link, tasks, notices, memory, sessions, pictures)
        qtbot.waitUntil(lambda: bool(model.actors.actors), timeout=PATIENCE_MS)
        return model

    return make


def test_actors_by_mode_and_environment(
    make_model: Callable[[Remembered], SessionPanelModel], notices: Notices, qtbot: QtBot
) -> None:
    """Human by default; an agent where one acts; what cannot act says why; all is remembered."""
    memory = Remembered()
    model = make_model(memory)
    said: list[Notice] = []
    notices.posted.connect(said.append)
    assert (model.mode, model.actor_id) == ("human", "human")
    with qtbot.waitSignal(model.actor_changed) as told:
        model.set_mode("agent")
    assert (model.actor_id, told.args) == ("random", ["Random"])
    person = model.actors.find("human")
    assert person is not None
    assert not person.is_available
    model.choose_actor("recorded")
    assert model.actor_id == "random"
    assert "recorded episode" in said[0].message
    model.choose_actor("scripted")
    model.choice.choose("CartPole-v1")
    qtbot.waitUntil(lambda: model.actors.find("random") is not None, timeout=PATIENCE_MS)
    model.choose_actor("random")
    model.choice.choose("FrozenLake-v1")
    assert model.actor_id == "scripted"
    again = make_model(memory)
    assert (again.mode, again.choice.env_id, again.actor_id) == (
        "agent",
        "FrozenLake-v1",
        "scripted",
    )


def test_playing_with_somebody_who_is_named(
    make_model: Callable[[Remembered], SessionPanelModel],
    sessions: SessionService,
    notices: Notices,
    qtbot: QtBot,
) -> None:
    """Also right after the environment was chosen, before it is known who can act there."""
    model = make_model(Remembered())
    model.set_mode("agent")
    said: list[Notice] = []
    notices.posted.connect(said.append)
    model.play_with("nobody")
    qtbot.waitUntil(lambda: bool(said), timeout=PATIENCE_MS)
    assert not model.activity.is_going
    model.choice.choose("CartPole-v1")
    model.play_with("scripted")
    assert not model.activity.is_going
    qtbot.waitUntil(lambda: sessions.state.step is not None, timeout=PATIENCE_MS)
    assert (sessions.state.env_id, sessions.state.actor) == ("CartPole-v1", "scripted")
    model.stop()
    qtbot.waitUntil(lambda: not sessions.state.phase.is_active, timeout=PATIENCE_MS)


def test_a_session_from_play_to_stop(
    make_model: Callable[[Remembered], SessionPanelModel], sessions: SessionService, qtbot: QtBot
) -> None:
    """Play, hand over to an agent in the middle, every episode from the same start, stop."""

    def until(condition: Callable[[], bool]) -> None:
        qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    model = make_model(Remembered())
    model.choice.set_values({"is_slippery": False})
    model.choice.set_seed(11)
    model.choice.lock_seed(True)
    model.choice.set_speed(0.0)
    model.play()
    assert model.activity.is_waiting
    assert model.plays_chosen_environment
    until(lambda: model.activity.can_reset)
    made = sessions.state.environment
    assert made is not None
    assert made.env_kwargs is not None
    assert made.env_kwargs["is_slippery"] is False
    assert sessions.state.actor == "human"
    model.set_mode("hybrid")
    until(lambda: sessions.state.actor == "random")
    until(lambda: sessions.state.episodes_finished >= 3)
    assert sessions.state.episode is not None
    assert sessions.state.episode.seed == 11
    model.stop()
    until(lambda: not model.activity.is_going)
    assert model.problem is None


def test_how_a_person_ended_an_episode_stays_in_sight(
    make_model: Callable[[Remembered], SessionPanelModel], sessions: SessionService, qtbot: QtBot
) -> None:
    """Also with a locked seed: whoever took over goes on by hand; given back, the agent does."""

    def until(condition: Callable[[], bool]) -> None:
        qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    model = make_model(Remembered())
    model.choice.set_values({"is_slippery": False, "map_name": "custom", "desc": "SG/FF"})
    model.choice.set_seed(11)
    model.choice.lock_seed(True)
    model.set_mode("hybrid")
    model.choose_actor("random")
    model.play()
    until(lambda: model.activity.can_reset)
    sessions.takeover()
    until(lambda: sessions.state.is_taken_over)
    sessions.reset(11)
    until(lambda: sessions.state.episode is not None and not sessions.state.episode.is_over)
    to_the_right = 2
    sessions.act(to_the_right)
    until(lambda: sessions.state.episode is not None and sessions.state.episode.is_over)
    ended = sessions.state.episode
    assert model._begun_again != (ended.episode_id if ended else "")
    sessions.release()
    until(lambda: sessions.state.episode is not None and sessions.state.episode != ended)
    model.stop()
    until(lambda: not model.activity.is_going)


def test_a_session_that_cannot_begin_says_why(
    make_model: Callable[[Remembered], SessionPanelModel], qtbot: QtBot
) -> None:
    """The problem stands there with its remedy until it is dismissed, and Play tries again."""
    model = make_model(Remembered())
    model.choice.choose("NoSuchThing-v0")
    model.play()
    qtbot.waitUntil(lambda: model.problem is not None, timeout=PATIENCE_MS)
    assert "NoSuchThing" in str(model.problem)
    assert model.can_retry
    model.dismiss_problem()
    assert model.problem is None


def test_a_game_that_waits_for_a_person_does_not_wait_for_an_agent(
    make_model: Callable[[Remembered], SessionPanelModel], sessions: SessionService, qtbot: QtBot
) -> None:
    """In real time it stands still until the first key; handed over, it begins."""
    model = make_model(Remembered())
    model.choice.choose("MountainCar-v0")
    qtbot.waitUntil(lambda: model.actors.find("random") is not None, timeout=PATIENCE_MS)
    model.play()
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.PAUSED, timeout=PATIENCE_MS)
    model.set_mode("agent")
    model.choose_actor("random")
    qtbot.waitUntil(lambda: sessions.state.step is not None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.RUNNING, timeout=PATIENCE_MS)
    model.stop()
    qtbot.waitUntil(lambda: not model.activity.is_going, timeout=PATIENCE_MS)


def test_without_a_daemon_play_says_so(
    tmp_path: Path, tasks: Tasks, notices: Notices, pulse: UiTicker, qtbot: QtBot
) -> None:
    """Rather than to wait for one that cannot come by itself; Stop calls it off."""
    link = TrainerLink(Home(tmp_path))
    sessions, pictures = SessionService(link, pulse), EnvironmentPictures(link, tasks)
    model = SessionPanelModel(link, tasks, notices, Remembered(), sessions, pictures)
    model.play()
    assert model.activity.words == "Waiting for the trainer daemon"
    link.open(start=False)
    qtbot.waitUntil(lambda: model.problem is not None, timeout=PATIENCE_MS)
    assert "There is no daemon: see above." in str(model.problem)
    assert model.activity.words == ""
    assert not model.can_retry
    model.stop()
    assert model.problem is None
    assert not model.activity.is_going
    link.close()
    assert link.join(10)
