"""SessionPanelModel with a real daemon: actors, and starting sessions."""

import dataclasses
from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.session_service import SessionPhase, SessionService
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.session.feed.thumbnail_cache import ThumbnailCache
from gym_gui.session.model.session_panel_model import SessionPanelModel
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.gym_gui.memory_settings import MemorySettings

pytestmark = pytest.mark.process


@pytest.fixture
def sessions(link: TrainerLink, ticker: UiTicker) -> Iterator[SessionService]:
    service = SessionService(link, ticker)
    yield service
    service.close()
    assert service.join(30)


@pytest.fixture
def make_model(
    services: Services, sessions: SessionService, qtbot: QtBot
) -> Callable[[MemorySettings], SessionPanelModel]:
    def make(settings: MemorySettings) -> SessionPanelModel:
        thumbnails = ThumbnailCache(services.link, services.tasks)
        with_settings = dataclasses.replace(services, settings=settings)
        model = SessionPanelModel(with_settings, sessions, thumbnails)
        qtbot.waitUntil(lambda: bool(model.actors.actors), timeout=TIMEOUT_MS)
        return model

    return make


def test_actors_by_mode_and_environment(
    make_model: Callable[[MemorySettings], SessionPanelModel], notices: Notices, qtbot: QtBot
) -> None:
    """Human by default; unavailable actors have a reason; selections are saved."""
    settings = MemorySettings()
    model = make_model(settings)
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    assert (model.mode, model.actor_id) == ("human", "human")
    with qtbot.waitSignal(model.actor_changed) as changed:
        model.set_mode("agent")
    assert (model.actor_id, changed.args) == ("random", ["Random"])
    person = model.actors.find("human")
    assert person is not None
    assert not person.is_available
    model.choose_actor("recorded")
    assert model.actor_id == "random"
    assert "recorded episode" in posted[0].message
    model.choose_actor("scripted")
    model.choice.choose("CartPole-v1")
    qtbot.waitUntil(lambda: model.actors.find("random") is not None, timeout=TIMEOUT_MS)
    model.choose_actor("random")
    model.choice.choose("FrozenLake-v1")
    assert model.actor_id == "scripted"
    again = make_model(settings)
    assert (again.mode, again.choice.env_id, again.actor_id) == (
        "agent",
        "FrozenLake-v1",
        "scripted",
    )


def test_playing_with_a_named_actor(
    make_model: Callable[[MemorySettings], SessionPanelModel],
    sessions: SessionService,
    notices: Notices,
    qtbot: QtBot,
) -> None:
    """Also before the actors of a new environment are loaded."""
    model = make_model(MemorySettings())
    model.set_mode("agent")
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    model.play_with("unknown")
    qtbot.waitUntil(lambda: bool(posted), timeout=TIMEOUT_MS)
    assert not model.activity.is_running
    model.choice.choose("CartPole-v1")
    model.play_with("scripted")
    assert not model.activity.is_running
    qtbot.waitUntil(lambda: sessions.state.step is not None, timeout=TIMEOUT_MS)
    assert (sessions.state.env_id, sessions.state.actor) == ("CartPole-v1", "scripted")
    model.stop()
    qtbot.waitUntil(lambda: not sessions.state.phase.is_active, timeout=TIMEOUT_MS)


def test_a_session_from_play_to_stop(
    make_model: Callable[[MemorySettings], SessionPanelModel],
    sessions: SessionService,
    qtbot: QtBot,
) -> None:
    """Play, switch to an agent, run episodes with a locked seed, stop."""

    def until(condition: Callable[[], bool]) -> None:
        qtbot.waitUntil(condition, timeout=TIMEOUT_MS)

    model = make_model(MemorySettings())
    model.choice.set_values({"is_slippery": False})
    model.choice.set_seed(11)
    model.choice.lock_seed(True)
    model.choice.set_speed(0.0)
    model.play()
    assert model.activity.is_waiting
    assert model.plays_selected_environment
    until(lambda: model.activity.can_reset)
    environment = sessions.state.environment
    assert environment is not None
    assert environment.env_kwargs is not None
    assert environment.env_kwargs["is_slippery"] is False
    assert sessions.state.actor == "human"
    model.set_mode("hybrid")
    until(lambda: sessions.state.actor == "random")
    until(lambda: sessions.state.episodes_finished >= 3)
    assert sessions.state.episode is not None
    assert sessions.state.episode.seed == 11
    model.stop()
    until(lambda: not model.activity.is_running)
    assert model.problem is None


def test_no_automatic_reset_after_a_takeover(
    make_model: Callable[[MemorySettings], SessionPanelModel],
    sessions: SessionService,
    qtbot: QtBot,
) -> None:
    """Also with a locked seed: the user resets by hand; after release the agent does."""

    def until(condition: Callable[[], bool]) -> None:
        qtbot.waitUntil(condition, timeout=TIMEOUT_MS)

    model = make_model(MemorySettings())
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
    right = 2
    sessions.act(right)
    until(lambda: sessions.state.episode is not None and sessions.state.episode.is_over)
    ended = sessions.state.episode
    assert model._restarted_episode != (ended.episode_id if ended else "")
    sessions.release()
    until(lambda: sessions.state.episode is not None and sessions.state.episode != ended)
    model.stop()
    until(lambda: not model.activity.is_running)


def test_a_session_that_cannot_start_reports_why(
    make_model: Callable[[MemorySettings], SessionPanelModel], qtbot: QtBot
) -> None:
    """The problem and its remedy stay until dismissed, and Play can be retried."""
    model = make_model(MemorySettings())
    model.choice.choose("NoSuchThing-v0")
    model.play()
    qtbot.waitUntil(lambda: model.problem is not None, timeout=TIMEOUT_MS)
    assert "NoSuchThing" in str(model.problem)
    assert model.can_retry
    model.dismiss_problem()
    assert model.problem is None


def test_a_session_paused_for_the_user_resumes_for_an_agent(
    make_model: Callable[[MemorySettings], SessionPanelModel],
    sessions: SessionService,
    qtbot: QtBot,
) -> None:
    """A real-time session is paused until the first key; an agent resumes it."""
    model = make_model(MemorySettings())
    model.choice.choose("MountainCar-v0")
    qtbot.waitUntil(lambda: model.actors.find("random") is not None, timeout=TIMEOUT_MS)
    model.play()
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.PAUSED, timeout=TIMEOUT_MS)
    model.set_mode("agent")
    model.choose_actor("random")
    qtbot.waitUntil(lambda: sessions.state.step is not None, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.RUNNING, timeout=TIMEOUT_MS)
    model.stop()
    qtbot.waitUntil(lambda: not model.activity.is_running, timeout=TIMEOUT_MS)


def test_play_without_a_daemon(offline_services: Services, qtbot: QtBot) -> None:
    """The problem is reported instead of waiting; Stop cancels the request."""
    link = offline_services.link
    sessions = SessionService(link, offline_services.ticker)
    thumbnails = ThumbnailCache(link, offline_services.tasks)
    model = SessionPanelModel(offline_services, sessions, thumbnails)
    model.play()
    assert model.activity.text == "Waiting for the trainer daemon"
    link.open(start=False)
    qtbot.waitUntil(lambda: model.problem is not None, timeout=TIMEOUT_MS)
    assert "No daemon is running." in str(model.problem)
    assert model.activity.text == ""
    assert not model.can_retry
    model.stop()
    assert model.problem is None
    assert not model.activity.is_running
    link.close()
    assert link.join(10)
