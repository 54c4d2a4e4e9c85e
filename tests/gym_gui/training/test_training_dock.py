"""The training dock in the session panel, with a real daemon: train, then play what was learned."""

import json
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.app.training_dock import TrainingDock
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.session_service import SessionService
from gym_gui.runtime.settings_store import SettingsStore
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
from tests.gym_gui.conftest import PATIENCE_MS

pytestmark = pytest.mark.process

PPO = "cleanrl_worker/ppo"
DQN = "cleanrl_worker/dqn"
LEARNS_MS = 2 * PATIENCE_MS


@pytest.fixture
def sessions(link: TrainerLink, ticker: UiTicker) -> Iterator[SessionService]:
    made = SessionService(link, ticker)
    yield made
    made.close()
    made.join(10)


@pytest.fixture
def session(
    link: TrainerLink, tasks: Tasks, notices: Notices, sessions: SessionService
) -> SessionPanelModel:
    settings = SettingsStore(link.home)
    settings.set("session/environment", "CartPole-v1")
    settings.set("session/mode", "agent")
    pictures = ThumbnailCache(link, tasks)
    return SessionPanelModel(link, tasks, notices, settings, sessions, pictures)


@pytest.fixture
def desk(
    link: TrainerLink,
    tasks: Tasks,
    ticker: UiTicker,
    notices: Notices,
    theme: ThemeModel,
    session: SessionPanelModel,
    give_bundles: Callable[..., None],
) -> Iterator[TrainingDock]:
    give_bundles(Home(link.home.path), "cleanrl_worker")
    settings = SettingsStore(link.home)
    settings.set("training/allowed/cleanrl_worker", True)
    runs = RunsModel(link, tasks, ticker, notices)
    made = TrainingDock(link, tasks, ticker, notices, settings, runs, session, theme)
    yield made
    made.close()
    runs.close()
    assert made.join(10)
    assert runs.join(10)


@pytest.fixture
def panel(
    qtbot: QtBot, session: SessionPanelModel, desk: TrainingDock, theme: ThemeModel
) -> SessionPanel:
    made = SessionPanel(session, theme, desk)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: desk.model.form.agent is not None, timeout=PATIENCE_MS)
    return made


def press(panel: QWidget, text: str) -> None:
    shown = (each for each in panel.findChildren(QPushButton) if each.isVisible())
    button = next(each for each in shown if each.text() == text)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def train_new(qtbot: QtBot, panel: SessionPanel) -> TrainingPanel:
    press(panel, "Train new")
    qtbot.waitUntil(lambda: bool(panel.findChildren(TrainingPanel)), timeout=PATIENCE_MS)
    page = panel.findChildren(TrainingPanel)[0]
    qtbot.waitUntil(lambda: page.isVisible() and page.sections.is_finished, timeout=PATIENCE_MS)
    return page


def wait_until_ready(qtbot: QtBot, model: TrainingModel) -> None:
    qtbot.waitUntil(lambda: not model.launch_problem, timeout=PATIENCE_MS)


def test_training_one_and_playing_what_it_learned(
    qtbot: QtBot,
    panel: SessionPanel,
    desk: TrainingDock,
    session: SessionPanelModel,
    sessions: SessionService,
    link: TrainerLink,
) -> None:
    """Launch stands where Play was; what the run saves is listed, chosen, and plays."""
    qtbot.waitUntil(lambda: bool(panel.findChildren(TrainedPanel)), timeout=PATIENCE_MS)
    trained = panel.findChildren(TrainedPanel)[0]
    qtbot.waitUntil(lambda: desk.policies.is_known, timeout=PATIENCE_MS)
    assert panel.buttons.play.isVisible()
    press(trained, "Train new")
    page = train_new(qtbot, panel)
    assert not panel.buttons.isVisible()
    assert page.foot.launch.isVisible()
    desk.model.form.paste('{"total_timesteps": 1024, "run_name": "quick", "seed": 2}')
    wait_until_ready(qtbot, desk.model)
    with qtbot.waitSignal(desk.launched, timeout=PATIENCE_MS):
        QTest.mouseClick(page.foot.launch, Qt.MouseButton.LeftButton)

    def is_over() -> bool:
        run = desk.model.run.run
        return run is not None and run.state.is_final

    qtbot.waitUntil(is_over, timeout=LEARNS_MS)
    press(panel, "Use trained")
    assert panel.buttons.play.isVisible()
    qtbot.waitUntil(lambda: bool(desk.policies.policies), timeout=PATIENCE_MS)
    row = desk.policies.row(0)
    assert row.title == "quick"
    assert "step 1,024" in row.facts
    policy = desk.policies.policies[0].id
    trained.list.setCurrentIndex(desk.policies.index(0))
    QTest.keyClick(trained.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.actor_id == policy, timeout=PATIENCE_MS)
    assert desk.policies.row(0).is_chosen
    QTest.mouseClick(panel.buttons.play, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: sessions.state.step is not None, timeout=LEARNS_MS)
    config = load_run_config(link.client.run(sessions.state.run_id).config_json)
    assert (config.worker, config.mode, config.actor) == ("cleanrl_worker", "play", policy)


def test_the_toggle_is_remembered_per_agent(
    qtbot: QtBot, panel: SessionPanel, desk: TrainingDock, session: SessionPanelModel
) -> None:
    """Another agent has the tab that it had; one that is new keeps the one in front."""
    form = desk.model.form

    def tab_after_choosing(agent_id: str) -> str:
        form.choose_agent(agent_id)
        return session.tab

    assert tab_after_choosing(DQN) == "trained"
    train_new(qtbot, panel)
    assert tab_after_choosing(PPO) == "new"
    press(panel, "Use trained")
    assert tab_after_choosing(DQN) == "new"
    assert tab_after_choosing(PPO) == "trained"


def test_the_environment_goes_along(
    qtbot: QtBot, panel: SessionPanel, desk: TrainingDock, session: SessionPanelModel
) -> None:
    """With its keywords; one that cannot be made so keeps Launch from it, and it is said why."""
    page = train_new(qtbot, panel)
    session.choice.set_values({"sutton_barto_reward": True})
    assert desk.model.form.document["env_kwargs"] == {"sutton_barto_reward": True}
    session.choice.choose("LunarLander-v3")
    assert desk.model.form.target.env_id == "LunarLander-v3"
    session.choice.set_values({"gravity": 50})
    assert not page.foot.launch.isEnabled()
    assert "gravity" in page.foot.launch.toolTip()
    session.choice.set_values({})
    wait_until_ready(qtbot, desk.model)


def test_a_run_duplicated_as_a_draft(
    qtbot: QtBot,
    panel: SessionPanel,
    desk: TrainingDock,
    session: SessionPanelModel,
    link: TrainerLink,
) -> None:
    """In its environment, with its settings and nothing else, and the notes say whose they are."""
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
    desk.take_run(json.loads(link.client.run(run.run_id).config_json), "the run of yesterday")
    link.client.cancel(run.run_id)
    assert (session.mode, session.tab) == ("agent", "new")
    form = desk.model.form
    assert (form.target.algo, form.target.env_id) == ("dqn", "Acrobot-v1")
    assert form.draft.of("run") == {"seed": 9}
    assert form.draft.of("artifacts") == {"tensorboard": False}
    assert form.without_field == ("priority",)
    assert "the run of yesterday" in desk.model.notes.notes[0].title
    page = train_new(qtbot, panel)
    assert page.sections.forms["run"].row("seed").value == 9
    assert page.leave_out.isVisible()
    QTest.mouseClick(page.leave_out, Qt.MouseButton.LeftButton)
    assert "priority" not in form.document
