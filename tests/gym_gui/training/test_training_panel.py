"""The training dock with a real daemon and real workers."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.settings_store import MINIMAL_TELEMETRY_KEY, SettingsStore
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.training.model.training_fields import SectionId
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.view.training_panel import TrainingPanel
from gym_gui.widgets.section import Section
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS

pytestmark = pytest.mark.process

PPO = "cleanrl_worker/ppo"
ECHO = "echo_worker/echo"
LEARNS_MS = 2 * PATIENCE_MS


@pytest.fixture
def settings(link: TrainerLink) -> SettingsStore:
    return SettingsStore(link.home)


@pytest.fixture
def model(
    link: TrainerLink,
    tasks: Tasks,
    ticker: UiTicker,
    notices: Notices,
    settings: SettingsStore,
    give_bundles: Callable[..., None],
) -> Iterator[TrainingModel]:
    give_bundles(Home(link.home.path), "cleanrl_worker")
    runs = RunsModel(link, tasks, ticker, notices)
    made = TrainingModel(link, tasks, ticker, notices, settings, runs)
    yield made
    made.close()
    runs.close()
    assert made.join(10)
    assert runs.join(10)


@pytest.fixture
def panel(qtbot: QtBot, model: TrainingModel, theme: ThemeModel) -> TrainingPanel:
    """Shown, with the form of PPO for CartPole."""
    model.set_environment("CartPole-v1", {})
    made = TrainingPanel(model, theme)
    qtbot.addWidget(made)
    made.show()

    def check() -> None:
        assert model.form.agent is not None, model.launch_problem
        assert made.sections.is_finished

    qtbot.waitUntil(check, timeout=PATIENCE_MS)
    return made


def write(panel: TrainingPanel, section: SectionId, name: str, text: str) -> None:
    """As a person does: over what is there."""
    row = panel.sections.forms[section].row(name)
    found = row.findChildren(QLineEdit)
    field: QWidget = found[0]
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, text)


def write_nothing(field: QLineEdit) -> None:
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(field, Qt.Key.Key_Delete)


def assert_launch_waits(panel: TrainingPanel) -> None:
    assert not panel.foot.launch.isEnabled()
    assert "to be corrected" in panel.foot.launch.toolTip()


def wait_until_ready(qtbot: QtBot, model: TrainingModel) -> None:
    qtbot.waitUntil(lambda: not model.launch_problem, timeout=PATIENCE_MS)


def test_training_from_the_form(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel, link: TrainerLink
) -> None:
    """PPO learns CartPole: consent once, then the run, its badge and how it ended."""
    assert model.form.agent is not None
    assert model.form.agent.id == PPO
    write(panel, "run", "total_timesteps", "1000")
    write(panel, "params", "num_steps", "64")
    panel.sections.unfold("about")
    qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=PATIENCE_MS)
    write(panel, "about", "tags", "first, try")
    assert not panel.foot.launch.isEnabled()
    assert panel.foot.launch.toolTip()
    wait_until_ready(qtbot, model)
    QTest.mouseClick(panel.foot.launch, Qt.MouseButton.LeftButton)
    assert panel.foot.consent.isVisible()
    assert model.run.run is None
    with qtbot.waitSignal(model.launched, timeout=PATIENCE_MS) as launched:
        QTest.mouseClick(panel.foot.consent.allow, Qt.MouseButton.LeftButton)
    run_id = launched.args[0]
    config = load_run_config(link.client.run(run_id).config_json)
    assert (config.algo, config.total_timesteps, config.params) == ("ppo", 1000, {"num_steps": 64})
    assert panel.foot.run_card.isVisible()

    def is_over() -> bool:
        run = model.run.run
        return run is not None and run.state.is_final

    qtbot.waitUntil(is_over, timeout=LEARNS_MS)
    run = link.client.run(run_id).run
    assert run.state is RunState.SUCCEEDED
    assert set(run.tags) == {"first", "try"}
    assert model.run.why_it_ended
    assert not model.needs_consent


def test_a_run_that_is_cancelled(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel, settings: SettingsStore
) -> None:
    """The card says that it was, and why."""
    settings.set("training/allowed/echo_worker", True)
    model.form.choose_agent(ECHO)
    model.form.paste('{"params": {"steps": 100000, "rate": 50}}')
    wait_until_ready(qtbot, model)
    with qtbot.waitSignal(model.launched, timeout=PATIENCE_MS):
        QTest.mouseClick(panel.foot.launch, Qt.MouseButton.LeftButton)

    def state() -> RunState | None:
        return model.run.run.state if model.run.run else None

    qtbot.waitUntil(lambda: state() is RunState.RUNNING, timeout=PATIENCE_MS)
    QTest.mouseClick(panel.foot.run_card.cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state() is RunState.CANCELLED, timeout=PATIENCE_MS)
    assert "window" in model.run.why_it_ended
    QTest.mouseClick(panel.foot.run_card.dismiss, Qt.MouseButton.LeftButton)
    assert not panel.foot.run_card.isVisible()


def test_wrong_values_and_a_dry_run_that_fails(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel
) -> None:
    """Launch says how many fields are wrong; the worker's own words are in the notes, in full."""
    write(panel, "params", "gamma", "2")
    write(panel, "params", "num_envs", "many")
    assert not panel.foot.launch.isEnabled()
    assert "2 fields" in model.launch_problem
    write(panel, "params", "num_envs", "4")
    QTest.mouseClick(panel.foot.dry_run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(model.notes.notes), timeout=LEARNS_MS)
    assert not model.notes.notes[0].is_good
    assert "params.gamma" in panel.notes.text.toPlainText()
    write(panel, "params", "gamma", "0.98")
    wait_until_ready(qtbot, model)


TYPED: tuple[tuple[SectionId, str, str, str], ...] = (
    ("run", "seed", "-3", "Seed is -3"),
    ("run", "seed", "today", "Seed is text"),
    ("run", "total_timesteps", "1.5", "Total timesteps"),
    ("params", "num_envs", "many", "In parallel is text"),
    ("params", "learning_rate", "1e", "Learning rate is text"),
    ("params", "gamma", "nan", "Discount"),
    ("tracking", "project", "", "Project"),
    ("tracking", "proxy", "nonsense", "Proxy address"),
    ("about", "run_name", "x" * 201, "Run name"),
    ("about", "tags", f"fine, {'y' * 101}", "Tags has one that is not allowed"),
    ("about", "note", "a\x07b", "Note has control characters"),
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


def test_garbage_that_is_typed(qtbot: QtBot, panel: TrainingPanel, model: TrainingModel) -> None:
    """Of every kind of field: it is said beneath the field, and Launch is grey for that reason."""
    for section, name, garbage, said in TYPED:
        model.form.paste('{"artifacts": {"wandb": {"enabled": true, "proxy": "http://proxy:1"}}}')
        panel.sections.unfold(section)
        qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=PATIENCE_MS)
        row = panel.sections.forms[section].row(name)
        if name == "note":
            row.findChildren(QPlainTextEdit)[0].setPlainText(garbage)
        elif garbage:
            write(panel, section, name, garbage)
        else:
            write_nothing(row.findChildren(QLineEdit)[0])
        told = [each.text() for each in row.findChildren(QLabel) if each.isVisible()]
        assert any(text.startswith(said) for text in told), told
        assert_launch_waits(panel)


def test_garbage_that_is_pasted(qtbot: QtBot, panel: TrainingPanel, model: TrainingModel) -> None:
    """What no field could hold is said where it belongs, or above all when it has no field."""
    for document, section, name in PASTED:
        model.form.paste(document)
        qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=PATIENCE_MS)
        place: QWidget = panel
        if section is not None:
            form = panel.sections.forms[section]
            place = form.row(name) if name else form
        wrong = [
            each.text()
            for each in place.findChildren(QLabel)
            if each.property("tone") == "bad" and each.isVisible()
        ]
        assert any(wrong), document
        assert_launch_waits(panel)


def test_drafts_and_the_way_back(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel, notices: Notices
) -> None:
    """Each agent and environment has its own; a reset can be undone."""
    write(panel, "run", "seed", "7")
    model.form.choose_agent("cleanrl_worker/dqn")
    assert model.form.draft.of("run") == {}
    model.set_environment("Pendulum-v1", {})
    assert model.form.target.algo == "ddpg_continuous_action"
    dqn = model.catalog.find("cleanrl_worker/dqn")
    assert dqn is not None
    assert "continuous" in dqn.reason
    model.set_environment("CartPole-v1", {})
    model.form.choose_agent(PPO)
    assert model.form.draft.of("run") == {"seed": 7}
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    QTest.mouseClick(panel.configuration.reset, Qt.MouseButton.LeftButton)
    assert model.form.draft.of("run") == {}
    undo = posted[-1].run
    assert undo is not None
    undo()
    qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=PATIENCE_MS)
    assert panel.sections.forms["run"].row("seed").value == 7


def test_minimal_telemetry_and_what_a_worker_lacks(
    qtbot: QtBot, panel: TrainingPanel, model: TrainingModel, settings: SettingsStore
) -> None:
    """The box is kept per worker, goes into the run, and is not there for one that tells all."""
    assert panel.minimal.isVisible()
    panel.minimal.setFocus()
    QTest.keyClick(panel.minimal, Qt.Key.Key_Space)
    assert settings.flag(f"{MINIMAL_TELEMETRY_KEY}/cleanrl_worker", False)
    assert model.form.document["telemetry"]["steps"] == "sampled"
    model.form.choose_agent(ECHO)
    qtbot.waitUntil(lambda: panel.sections.is_finished, timeout=PATIENCE_MS)
    assert not panel.minimal.isVisible()
    assert not panel.sections.widgets["tracking"].isVisible()
    assert isinstance(panel.sections.widgets["params"], Section)


def test_presets_and_json(qtbot: QtBot, panel: TrainingPanel, model: TrainingModel) -> None:
    """What was saved comes back; what cannot be used changes nothing."""
    model.form.use_recommended()
    model.form.paste('{"params": {"gamma": 0.9}, "seed": 5, "priority": 3}')
    assert panel.sections.forms["params"].row("gamma").value == 0.9
    assert model.form.document["priority"] == 3
    model.form.save_preset("Mine: first")
    qtbot.waitUntil(lambda: model.form.presets.names == ("Mine-first",), timeout=PATIENCE_MS)
    model.form.reset()
    model.form.paste("nonsense")
    assert model.form.draft.of("params") == {}
    model.form.load_preset("Mine-first")
    qtbot.waitUntil(lambda: model.form.draft.of("params") == {"gamma": 0.9}, timeout=PATIENCE_MS)
    assert "seed" not in model.form.document
