"""A missing bundle is installed from the preflight list."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.view.check_list import CheckList
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """Has no bundles."""
    under_test = DaemonUnderTest(tmp_path)
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


@pytest.fixture
def model(services: Services) -> Iterator[TrainingModel]:
    runs = RunsModel(services)
    model = TrainingModel(services, runs)
    yield model
    model.close()
    runs.close()
    assert model.join(10)
    assert runs.join(10)


def test_a_bundle_is_installed_with_progress(
    qtbot: QtBot, model: TrainingModel, theme: ThemeModel
) -> None:
    """Progress is displayed; afterwards the badge and preflight show that it is ready."""
    checks = CheckList(model, theme)
    qtbot.addWidget(checks)
    checks.show()
    model.set_environment("CartPole-v1", {})
    qtbot.waitUntil(lambda: model.catalog.is_known, timeout=TIMEOUT_MS)
    model.form.choose_agent("echo_worker/echo")

    def install_button() -> QPushButton | None:
        buttons = checks.findChildren(QPushButton)
        return next((button for button in buttons if button.text() == "Install bundle"), None)

    qtbot.waitUntil(lambda: install_button() is not None, timeout=TIMEOUT_MS)
    assert model.form.badges[0].text == "! bundle missing"
    button = install_button()
    assert button is not None
    texts: list[str] = []
    readiness = model.readiness
    readiness.changed.connect(
        lambda: texts.append(readiness.installation.text) if readiness.installation else None
    )
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "Installing" in model.launch_problem
    qtbot.waitUntil(lambda: readiness.installation is None, timeout=2 * TIMEOUT_MS)
    assert len(set(texts)) > 1
    qtbot.waitUntil(lambda: model.form.badges[0].text == "✓ bundle", timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: not model.launch_problem, timeout=TIMEOUT_MS)
