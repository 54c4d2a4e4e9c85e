"""SessionPanel without a daemon."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.session_service import SessionService
from gym_gui.session.feed.thumbnail_cache import ThumbnailCache
from gym_gui.session.model.session_panel_model import SessionPanelModel
from gym_gui.session.view.environment_field import EnvironmentField
from gym_gui.session.view.session_panel import SessionPanel
from gym_gui.widgets.forms.parameter_form import ParameterForm


@pytest.fixture
def model(
    offline_services: Services,
) -> Iterator[SessionPanelModel]:
    services = offline_services
    sessions = SessionService(services.link, services.ticker)
    thumbnails = ThumbnailCache(services.link, services.tasks)
    yield SessionPanelModel(services, sessions, thumbnails)
    sessions.close()


@pytest.fixture
def panel(model: SessionPanelModel, theme: ThemeModel, qtbot: QtBot) -> SessionPanel:
    panel = SessionPanel(model, theme)
    qtbot.addWidget(panel)
    QApplication.processEvents()
    panel.show()
    QApplication.processEvents()
    return panel


def _texts(panel: SessionPanel) -> str:
    QApplication.processEvents()
    return "\n".join(label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def _named(panel: SessionPanel, name: str) -> QToolButton:
    buttons = panel.findChildren(QToolButton)
    return next(button for button in buttons if button.accessibleName() == name)


def _press_mode(panel: SessionPanel, text: str) -> None:
    buttons = panel.findChildren(QPushButton)
    next(button for button in buttons if button.text() == text).click()


def test_training_and_actors_follow_the_mode(panel: SessionPanel, model: SessionPanelModel) -> None:
    """In Human mode the actor is disabled; without training pages there is no toggle."""
    combos = panel.findChildren(QComboBox)
    combo = next(combo for combo in combos if combo.accessibleName() == "Active actor")
    assert not panel.training_area.isVisible()
    assert not combo.isEnabled()
    _press_mode(panel, "Agent")
    assert model.mode == "agent"
    assert combo.isEnabled()
    assert not panel.training_area.isVisible()
    assert panel.buttons.play.isVisible()


def test_the_form_and_the_help_are_those_of_the_environment(
    panel: SessionPanel, model: SessionPanelModel, qtbot: QtBot
) -> None:
    """Another environment has its own settings and help; an invalid value disables Play."""
    qtbot.waitUntil(lambda: "slippery" in _texts(panel))
    model.choice.choose("LunarLander-v3")
    qtbot.waitUntil(lambda: "engine" in _texts(panel))
    form = panel.findChildren(ParameterForm)[0]
    form.row("gravity").show_value(-50)
    form.row("gravity").changed.emit()
    assert model.choice.values == {"gravity": -50}
    assert not panel.buttons.play.isEnabled()
    qtbot.waitUntil(lambda: "Gravity is -50" in _texts(panel))
    form.reset()
    assert panel.buttons.play.isEnabled()


def test_seed_lock_and_dice(panel: SessionPanel, model: SessionPanelModel) -> None:
    """The hint explains the lock, and the dice button sets another seed."""
    seed = next(edit for edit in panel.findChildren(QLineEdit) if edit.accessibleName() == "Seed")
    seed.selectAll()
    QTest.keyClicks(seed, "42")
    assert model.choice.seed == 42
    assert "New seed each episode" in _texts(panel)
    _named(panel, "Lock the seed").click()
    assert "Same seed each episode" in _texts(panel)
    _named(panel, "New random seed").click()
    assert seed.text() == str(model.choice.seed) != "42"


def test_play_before_there_is_a_daemon(panel: SessionPanel, model: SessionPanelModel) -> None:
    """The panel says what it waits for, and Stop cancels the request."""
    panel.buttons.play.click()
    assert "Waiting for the trainer daemon" in _texts(panel)
    assert not panel.buttons.play.isVisible()
    panel.buttons.stop.click()
    assert panel.buttons.play.isVisible()
    assert not model.activity.is_running


def test_the_picker_with_the_keyboard(panel: SessionPanel, model: SessionPanelModel) -> None:
    """Type to search, arrows to move, Enter to select, Escape to cancel."""
    field = panel.findChildren(EnvironmentField)[0]
    search = field.picker.findChildren(QLineEdit)[0]

    def search_and_press(text: str, *keys: Qt.Key) -> None:
        panel.open_environment_picker()
        QApplication.processEvents()
        search.setText(text)
        for key in keys:
            QApplication.processEvents()
            QTest.keyClick(search, key)
        assert not field.picker.isVisible()

    search_and_press("lunar", Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert model.choice.env_id == "LunarLanderContinuous-v3"
    search_and_press("My/Env-v0", Qt.Key.Key_Escape)
    assert model.choice.env_id == "LunarLanderContinuous-v3"
    search_and_press("My/Env-v0", Qt.Key.Key_Enter)
    assert model.choice.env_id == "My/Env-v0"


@pytest.mark.parametrize("mode", ["human", "hybrid"])
def test_nothing_is_wider_than_a_narrow_dock(
    panel: SessionPanel, model: SessionPanelModel, mode: str
) -> None:
    """At minimum width every control fits, for any environment."""
    model.set_mode(mode)
    for env_id in ("FrozenLake-v1", "Humanoid-v5", "ALE/Pong-v5"):
        model.choice.choose(env_id)
        panel.resize(panel.minimumWidth(), 500)
        QApplication.processEvents()
        for child in panel.findChildren(QLabel) + panel.findChildren(QPushButton):
            if child.isVisible():
                right = child.mapTo(panel, child.rect().topRight()).x()
                assert right <= panel.width(), child
