"""TrainingPanel with a real daemon and real workers."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.settings_store import MINIMAL_TELEMETRY_KEY, SettingsStore
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.training.model.training_fields import SectionId
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.view.training_panel import TrainingPanel
from gym_gui.widgets.section import Section
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import TIMEOUT_MS

pytestmark = pytest.mark.process

PPO = "cleanrl_worker/ppo"
ECHO = "echo_worker/echo"
TRAINING_TIMEOUT_MS = 2 * TIMEOUT_MS


@pytest.fixture
def settings(link: TrainerLink) -> SettingsStore:
    return SettingsStore(link.home)


@pytest.fixture
def model(
    services: Services, link: TrainerLink, give_bundles: Callable[..., None]
) -> Iterator[TrainingModel]:
    give_bundles(Home(link.home.path), "cleanrl_worker")
    runs = RunsModel(services)
    model = TrainingModel(services, runs)
    yield model
    model.close()
    runs.close()
    assert model.join(10)
    assert runs.join(10)


@pytest.fixture
def panel(qtbot: QtBot, model: TrainingModel, theme: ThemeModel) -> TrainingPanel:
    """Visible, with the form of PPO for CartPole."""
    model.set_environment("CartPole-v1", {})
    training_panel = TrainingPanel(model, theme)
    qtbot.addWidget(training_panel)
    training_panel.show()

    def check() -> None:
        assert model.form.agent is not None, model.launch_problem
        assert training_panel.sections.is_finished

    qtbot.waitUntil(check, timeout=TIMEOUT_MS)
    return training_panel


def type_into(panel: TrainingPanel, section: SectionId, name: str, text: str) -> None:
    """Replace the text of a field by key presses."""
    row = panel.sections.forms[section].row(name)
    field = row.findChildren(QLineEdit)[0]
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, text)


def clear(field: QLineEdit) -> None:
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(field, Qt.Key.Key_Delete)


def assert_launch_disabled(panel: TrainingPanel) -> None:
    assert not panel.launch_bar.launch.isEnabled()
    assert "invalid" in panel.launch_bar.launch.toolTip()


def wait_until_ready(qtbot: QtBot, model: TrainingModel) -> None:
    qtbot.waitUntil(lambda: not model.launch_problem, timeout=TIMEOUT_MS)


def test_training_from_the_form(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel, link: TrainerLink
) -> None:
    """PPO learns CartPole: consent is requested once, and the end reason is displayed."""
    assert model.form.agent is not None
    assert model.form.agent.id == PPO
    type_into(panel, "run", "total_timesteps", "1000")
    type_into(panel, "params", "num_steps", "64")
    panel.sections.expand("about")
    qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=TIMEOUT_MS)
    type_into(panel, "about", "tags", "first, try")
    assert not panel.launch_bar.launch.isEnabled()
    assert panel.launch_bar.launch.toolTip()
    wait_until_ready(qtbot, model)
    QTest.mouseClick(panel.launch_bar.launch, Qt.MouseButton.LeftButton)
    assert panel.launch_bar.consent.isVisible()
    assert model.run.run is None
    with qtbot.waitSignal(model.launched, timeout=TIMEOUT_MS) as launched:
        QTest.mouseClick(panel.launch_bar.consent.allow, Qt.MouseButton.LeftButton)
    run_id = launched.args[0]
    config = load_run_config(link.client.run(run_id).config_json)
    assert (config.algo, config.total_timesteps, config.params) == ("ppo", 1000, {"num_steps": 64})
    assert panel.launch_bar.run_card.isVisible()

    def is_finished() -> bool:
        run = model.run.run
        return run is not None and run.state.is_final

    qtbot.waitUntil(is_finished, timeout=TRAINING_TIMEOUT_MS)
    run = link.client.run(run_id).run
    assert run.state is RunState.SUCCEEDED
    assert set(run.tags) == {"first", "try"}
    assert model.run.end_reason
    assert not model.needs_consent


def test_cancelling_a_run(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel, settings: SettingsStore
) -> None:
    """The card shows the reason."""
    settings.set("training/allowed/echo_worker", True)
    model.form.choose_agent(ECHO)
    model.form.paste('{"params": {"steps": 100000, "rate": 50}}')
    wait_until_ready(qtbot, model)
    with qtbot.waitSignal(model.launched, timeout=TIMEOUT_MS):
        QTest.mouseClick(panel.launch_bar.launch, Qt.MouseButton.LeftButton)

    def state() -> RunState | None:
        return model.run.run.state if model.run.run else None

    qtbot.waitUntil(lambda: state() is RunState.RUNNING, timeout=TIMEOUT_MS)
    QTest.mouseClick(panel.launch_bar.run_card.cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state() is RunState.CANCELLED, timeout=TIMEOUT_MS)
    assert "window" in model.run.end_reason
    QTest.mouseClick(panel.launch_bar.run_card.dismiss, Qt.MouseButton.LeftButton)
    assert not panel.launch_bar.run_card.isVisible()


def test_invalid_values_and_a_failed_dry_run(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel
) -> None:
    """Launch counts the invalid fields; the notes have the output of the worker."""
    type_into(panel, "params", "gamma", "2")
    type_into(panel, "params", "num_envs", "many")
    assert not panel.launch_bar.launch.isEnabled()
    assert "2 fields" in model.launch_problem
    type_into(panel, "params", "num_envs", "4")
    QTest.mouseClick(panel.launch_bar.dry_run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(model.notes.notes), timeout=TRAINING_TIMEOUT_MS)
    assert not model.notes.notes[0].is_success
    assert "params.gamma" in panel.notes.text.toPlainText()
    type_into(panel, "params", "gamma", "0.98")
    wait_until_ready(qtbot, model)


TYPED: tuple[tuple[SectionId, str, str, str], ...] = (
    ("run", "seed", "-3", "Seed is -3"),
    ("run", "seed", "today", "Seed is text"),
    ("run", "total_timesteps", "1.5", "Total timesteps"),
    ("params", "num_envs", "many", "Number of environments is text"),
    ("params", "learning_rate", "1e", "Learning rate is text"),
    ("params", "gamma", "nan", "Discount"),
    ("tracking", "project", "", "Project"),
    ("tracking", "proxy", "nonsense", "Proxy address"),
    ("about", "run_name", "x" * 201, "Run name"),
    ("about", "tags", f"fine, {'y' * 101}", "Tags contains an invalid tag"),
    ("about", "note", "a\x07b", "Note contains control characters"),
)
PASTED: tuple[tuple[str, SectionId | None, str], ...] = (
    ('{"artifacts": {"wandb": {"enabled": true, "mode": "sideways"}}}', "tracking", "mode"),
    ('{"artifacts": {"tensorboard": {"enabled": "yes"}}}', "artifacts", "tensorboard"),
    ('{"params": {"anneal_lr": 3}}', "params", "anneal_lr"),
    ('{"params": {"gamma": [0.9]}}', "params", "gamma"),
    ('{"params": {"gama": 0.9}}', "params", ""),
    ('{"params": ["gamma"]}', None, ""),
    ('{"bundle": {"extras": "atari"}}', "extras", ""),
    ('{"telemetry": {"steps": "loud"}}', None, ""),
)


def test_typing_invalid_values(qtbot: QtBot, panel: TrainingPanel, model: TrainingModel) -> None:
    """The problem is displayed below the field, and Launch is disabled."""
    for section, name, value, message in TYPED:
        model.form.paste('{"artifacts": {"wandb": {"enabled": true, "proxy": "http://proxy:1"}}}')
        panel.sections.expand(section)
        qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=TIMEOUT_MS)
        row = panel.sections.forms[section].row(name)
        if name == "note":
            row.findChildren(QPlainTextEdit)[0].setPlainText(value)
        elif value:
            type_into(panel, section, name, value)
        else:
            clear(row.findChildren(QLineEdit)[0])
        texts = [label.text() for label in row.findChildren(QLabel) if label.isVisible()]
        assert any(text.startswith(message) for text in texts), texts
        assert_launch_disabled(panel)


def test_pasting_invalid_values(qtbot: QtBot, panel: TrainingPanel, model: TrainingModel) -> None:
    """The problem is displayed at the field, or above the form if there is none."""
    for document, section, name in PASTED:
        model.form.paste(document)
        qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=TIMEOUT_MS)
        widget: QWidget = panel
        if section is not None:
            form = panel.sections.forms[section]
            widget = form.row(name) if name else form
        errors = [
            label.text()
            for label in widget.findChildren(QLabel)
            if label.property("tone") == "bad" and label.isVisible()
        ]
        assert any(errors), document
        assert_launch_disabled(panel)


def test_drafts_and_reset(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel, notices: Notices
) -> None:
    """Each agent and environment has its own draft; a reset can be undone."""
    type_into(panel, "run", "seed", "7")
    model.form.choose_agent("cleanrl_worker/dqn")
    assert model.form.draft.section("run") == {}
    model.set_environment("Pendulum-v1", {})
    assert model.form.target.algo == "ddpg_continuous_action"
    dqn = model.catalog.find("cleanrl_worker/dqn")
    assert dqn is not None
    assert "continuous" in dqn.reason
    model.set_environment("CartPole-v1", {})
    model.form.choose_agent(PPO)
    assert model.form.draft.section("run") == {"seed": 7}
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    QTest.mouseClick(panel.configuration.reset, Qt.MouseButton.LeftButton)
    assert model.form.draft.section("run") == {}
    undo = posted[-1].run
    assert undo is not None
    undo()
    qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=TIMEOUT_MS)
    assert panel.sections.forms["run"].row("seed").value == 7


def test_minimal_telemetry_and_unsupported_sections(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel, settings: SettingsStore
) -> None:
    """Saved per worker and part of the run; hidden for a worker with live telemetry."""
    assert panel.minimal.isVisible()
    panel.minimal.setFocus()
    QTest.keyClick(panel.minimal, Qt.Key.Key_Space)
    assert settings.flag(f"{MINIMAL_TELEMETRY_KEY}/cleanrl_worker", False)
    assert model.form.document["telemetry"]["steps"] == "sampled"
    model.form.choose_agent(ECHO)
    qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=TIMEOUT_MS)
    assert not panel.minimal.isVisible()
    assert not panel.sections.widgets["tracking"].isVisible()
    assert isinstance(panel.sections.widgets["params"], Section)


def test_presets_and_json(qtbot: QtBot, panel: TrainingPanel, model: TrainingModel) -> None:
    """A preset restores its values; invalid text changes nothing."""
    model.form.use_recommended()
    model.form.paste('{"params": {"gamma": 0.9}, "seed": 5, "priority": 3}')
    assert panel.sections.forms["params"].row("gamma").value == 0.9
    assert model.form.document["priority"] == 3
    model.form.save_preset("Mine: first")
    qtbot.waitUntil(lambda: model.form.presets.names == ("Mine-first",), timeout=TIMEOUT_MS)
    model.form.reset()
    model.form.paste("nonsense")
    assert model.form.draft.section("params") == {}
    model.form.load_preset("Mine-first")
    qtbot.waitUntil(
        lambda: model.form.draft.section("params") == {"gamma": 0.9}, timeout=TIMEOUT_MS
    )
    assert "seed" not in model.form.document
