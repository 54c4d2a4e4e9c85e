"""EmbeddedPage with and without WebEngine."""

from importlib.util import find_spec

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.embedded_choice import EmbeddedChoice
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.embedded_page import EmbeddedPage
from tests.gym_gui.memory_settings import MemorySettings

_HAS_WEB_ENGINE = find_spec("PySide6.QtWebEngineWidgets") is not None


@pytest.mark.skipif(_HAS_WEB_ENGINE, reason="WebEngine is installed")
def test_without_web_engine_the_page_names_the_missing_package(
    qtbot: QtBot, theme: ThemeModel
) -> None:
    """The URL can still be opened in the browser."""
    page = EmbeddedPage(theme)
    qtbot.addWidget(page)
    page.show()
    page.open("http://127.0.0.1:1/")
    text = " ".join(label.text() for label in page.findChildren(QLabel))
    assert "mosaic-workbench[web]" in text
    assert "http://127.0.0.1:1/" in text


def test_the_setting_is_saved_if_web_engine_is_installed() -> None:
    """Off by default; without WebEngine it stays off and has a reason."""
    remembered = MemorySettings()
    choice = EmbeddedChoice(remembered)
    assert not choice.is_on
    choice.set_on(True)
    assert choice.is_on == _HAS_WEB_ENGINE == (not choice.disabled_reason)
    assert EmbeddedChoice(remembered).is_on == _HAS_WEB_ENGINE
