"""TrainingDock in the session panel, with a real daemon: train, then play the policy."""

import json
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.app.training_dock import TrainingDock
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.session_service import SessionService
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.session.feed.thumbnail_cache import ThumbnailCache
from gym_gui.session.model.session_panel_model import SessionPanelModel
from gym_gui.session.view.session_panel import SessionPanel
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.view.trained_panel import TrainedPanel
from gym_gui.training.view.training_panel import TrainingPanel
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from tests.gym_gui.conftest import TIMEOUT_MS

pytestmark = pytest.mark.process

PPO = "cleanrl_worker/ppo"
DQN = "cleanrl_worker/dqn"
TRAINING_TIMEOUT_MS = 2 * TIMEOUT_MS


@pytest.fixture
def sessions(link: TrainerLink, ticker: UiTicker) -> Iterator[SessionService]:
    service = SessionService(link, ticker)
    yield service
    service.close()
    service.join(10)


@pytest.fixture
def session(
    services: Services, link: TrainerLink, tasks: Tasks, sessions: SessionService
) -> SessionPanelModel:
    settings = services.settings
    settings.set("session/environment", "CartPole-v1")
    settings.set("session/mode", "agent")
    thumbnails = ThumbnailCache(link, tasks)
    return SessionPanelModel(services, sessions, thumbnails)


@pytest.fixture
def dock(
    services: Services,
    link: TrainerLink,
    theme: ThemeModel,
    session: SessionPanelModel,
    give_bundles: Callable[..., None],
) -> Iterator[TrainingDock]:
    give_bundles(Home(link.home.path), "cleanrl_worker")
    services.settings.set("training/allowed/cleanrl_worker", True)
    runs = RunsModel(services)
    training_dock = TrainingDock(services, runs, session, theme)
    yield training_dock
    training_dock.close()
    runs.close()
    assert training_dock.join(10)
    assert runs.join(10)


@pytest.fixture
def panel(
    qtbot: QtBot, session: SessionPanelModel, dock: TrainingDock, theme: ThemeModel
) -> SessionPanel:
    session_panel = SessionPanel(session, theme, dock)
    qtbot.addWidget(session_panel)
    session_panel.show()
    qtbot.waitUntil(lambda: dock.model.form.agent is not None, timeout=TIMEOUT_MS)
    return session_panel


def press(panel: QWidget, text: str) -> None:
    visible = (button for button in panel.findChildren(QPushButton) if button.isVisible())
    button = next(button for button in visible if button.text() == text)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def open_train_new(qtbot: QtBot, panel: SessionPanel) -> TrainingPanel:
    press(panel, "Train new")
    qtbot.waitUntil(lambda: bool(panel.findChildren(TrainingPanel)), timeout=TIMEOUT_MS)
    page = panel.findChildren(TrainingPanel)[0]
    qtbot.waitUntil(lambda: page.isVisible() and page.sections.is_finished, timeout=TIMEOUT_MS)
    return page


def wait_until_ready(qtbot: QtBot, model: TrainingModel) -> None:
    qtbot.waitUntil(lambda: not model.launch_problem, timeout=TIMEOUT_MS)


def test_training_and_playing_a_policy(
    qtbot: QtBot,
    panel: SessionPanel,
    dock: TrainingDock,
    session: SessionPanelModel,
    sessions: SessionService,
    link: TrainerLink,
) -> None:
    """Launch replaces Play; the policy of the run is listed, chosen, and plays."""
    qtbot.waitUntil(lambda: bool(panel.findChildren(TrainedPanel)), timeout=TIMEOUT_MS)
    trained = panel.findChildren(TrainedPanel)[0]
    qtbot.waitUntil(lambda: dock.policies.is_known, timeout=TIMEOUT_MS)
    assert panel.buttons.play.isVisible()
    press(trained, "Train new")
    page = open_train_new(qtbot, panel)
    assert not panel.buttons.isVisible()
    assert page.launch_bar.launch.isVisible()
    dock.model.form.paste('{"total_timesteps": 1024, "run_name": "quick", "seed": 2}')
    wait_until_ready(qtbot, dock.model)
    with qtbot.waitSignal(dock.launched, timeout=TIMEOUT_MS):
        QTest.mouseClick(page.launch_bar.launch, Qt.MouseButton.LeftButton)

    def is_finished() -> bool:
        run = dock.model.run.run
        return run is not None and run.state.is_final

    qtbot.waitUntil(is_finished, timeout=TRAINING_TIMEOUT_MS)
    press(panel, "Use trained")
    assert panel.buttons.play.isVisible()
    qtbot.waitUntil(lambda: bool(dock.policies.policies), timeout=TIMEOUT_MS)
    row = dock.policies.row(0)
    assert row.title == "quick"
    assert "step 1,024" in row.details
    policy = dock.policies.policies[0].id
    trained.list.setCurrentIndex(dock.policies.index(0))
    QTest.keyClick(trained.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.actor_id == policy, timeout=TIMEOUT_MS)
    assert dock.policies.row(0).is_chosen
    QTest.mouseClick(panel.buttons.play, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: sessions.state.step is not None, timeout=TRAINING_TIMEOUT_MS)
    config = load_run_config(link.client.run(sessions.state.run_id).config_json)
    assert (config.worker, config.mode, config.actor) == ("cleanrl_worker", "play", policy)


def test_the_tab_is_saved_per_agent(
    qtbot: QtBot, panel: SessionPanel, dock: TrainingDock, session: SessionPanelModel
) -> None:
    """A known agent restores its tab; a new one keeps the current tab."""
    form = dock.model.form

    def tab_after_choosing(agent_id: str) -> str:
        form.choose_agent(agent_id)
        return session.tab

    assert tab_after_choosing(DQN) == "trained"
    open_train_new(qtbot, panel)
    assert tab_after_choosing(PPO) == "new"
    press(panel, "Use trained")
    assert tab_after_choosing(DQN) == "new"
    assert tab_after_choosing(PPO) == "trained"


def test_the_environment_of_the_session_panel_is_used(
    qtbot: QtBot, panel: SessionPanel, dock: TrainingDock, session: SessionPanelModel
) -> None:
    """With its keyword arguments; invalid ones disable Launch, with a reason."""
    page = open_train_new(qtbot, panel)
    session.choice.set_values({"sutton_barto_reward": True})
    assert dock.model.form.document["env_kwargs"] == {"sutton_barto_reward": True}
    session.choice.choose("LunarLander-v3")
    assert dock.model.form.target.env_id == "LunarLander-v3"
    session.choice.set_values({"gravity": 50})
    assert not page.launch_bar.launch.isEnabled()
    assert "gravity" in page.launch_bar.launch.toolTip()
    session.choice.set_values({})
    wait_until_ready(qtbot, dock.model)


def test_duplicating_a_run(
    qtbot: QtBot,
    panel: SessionPanel,
    dock: TrainingDock,
    session: SessionPanelModel,
    link: TrainerLink,
) -> None:
    """The draft has its environment and settings, and the notes name the run."""
    run = link.client.submit(
        {
            "worker": "cleanrl_worker",
            "algo": "dqn",
            "env_id": "Acrobot-v1",
            "seed": 9,
            "params": {"gamma": 0.9, "learning_rate": 0.001},
            "artifacts": {"tensorboard": {"enabled": False}},
            "priority": -5,
        }
    )
    session.set_mode("human")
    dock.duplicate_run(json.loads(link.client.run(run.run_id).config_json), "the first run")
    link.client.cancel(run.run_id)
    assert (session.mode, session.tab) == ("agent", "new")
    form = dock.model.form
    assert (form.target.algo, form.target.env_id) == ("dqn", "Acrobot-v1")
    assert form.draft.section("run") == {"seed": 9}
    assert form.draft.section("artifacts") == {"tensorboard": False}
    assert form.draft.other_fields == {"priority": -5}
    assert "the first run" in dock.model.notes.notes[0].title
    page = open_train_new(qtbot, panel)
    assert page.sections.forms["run"].row("seed").value == 9
    assert page.remove_other_fields.isVisible()
    QTest.mouseClick(page.remove_other_fields, Qt.MouseButton.LeftButton)
    assert "priority" not in form.document
