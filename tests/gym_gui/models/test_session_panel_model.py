"""SessionPanelModel with a real daemon: who can act, and sessions that begin as chosen."""

from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.models.notices import Notice, Notices
from gym_gui.models.session_panel_model import SessionPanelModel
from gym_gui.services.environment_pictures import EnvironmentPictures
from gym_gui.services.pulse import Pulse
from gym_gui.services.sessions import SessionService
from gym_gui.services.tasks import Tasks
from gym_gui.services.trainer_link import TrainerLink
from tests.gym_gui.conftest import PATIENCE_MS
from tests.gym_gui.remembered import Remembered

pytestmark = pytest.mark.process


@pytest.fixture
def sessions(link: TrainerLink, pulse: Pulse) -> Iterator[SessionService]:
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
