"""Icons: each is painted, sharp, and in the colours of the theme."""

from typing import get_args

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QAction, QColor, QIcon, QImage
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import DARK, LIGHT, ThemeModel
from gym_gui.widgets.icons import IconName, _ThemedEngine, set_icon, themed_icon


def opaque_colours(image: QImage) -> set[str]:
    """The colours of all opaque pixels."""
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


@pytest.mark.parametrize("name", get_args(IconName))
def test_every_icon_is_painted(name: IconName, theme: ThemeModel, qtbot: QtBot) -> None:
    """Each name has path data that Qt can parse; otherwise Qt would warn."""
    assert qtbot is not None
    image = themed_icon(name, theme).pixmap(24, 24).toImage()
    assert any(image.pixelColor(x, y).alpha() > 128 for x in range(24) for y in range(24))


def test_an_icon_has_the_resolution_of_the_screen(theme: ThemeModel, qtbot: QtBot) -> None:
    """With a device pixel ratio of 2 it has twice the pixels."""
    assert qtbot is not None
    pixmap = themed_icon("play", theme).pixmap(QSize(20, 20), 2.0)
    assert pixmap.size() == QSize(40, 40)
    assert pixmap.devicePixelRatio() == 2.0


def test_an_icon_follows_the_theme(theme: ThemeModel, qtbot: QtBot) -> None:
    """An existing icon is painted in the new colours, and grey if disabled."""
    assert qtbot is not None
    existing = themed_icon("stop", theme)
    assert opaque_colours(existing.pixmap(24, 24).toImage()) == {QColor(LIGHT.text).name()}
    theme.choose("dark")
    assert opaque_colours(existing.pixmap(24, 24).toImage()) == {QColor(DARK.text).name()}
    grey = existing.pixmap(QSize(24, 24), QIcon.Mode.Disabled).toImage()
    assert opaque_colours(grey) == {QColor(DARK.disabled).name()}


def test_owners_of_icons_are_repainted_when_the_theme_changes(
    theme: ThemeModel, qtbot: QtBot
) -> None:
    """A button is updated, an action emits `changed`, and a deleted owner is ignored."""
    button, action = QToolButton(), QAction("Play")
    qtbot.addWidget(button)
    set_icon(button, "play", theme)
    set_icon(action, "play", theme)
    with qtbot.waitSignal(action.changed):
        theme.choose("dark")
    del action
    theme.choose("light")
    assert not button.icon().isNull()


def test_clones_of_icon_engines_are_released(theme: ThemeModel, qtbot: QtBot) -> None:
    """Only clones that Qt still uses are referenced."""
    assert qtbot is not None
    first = themed_icon("stop", theme)
    for _ in range(20):
        copy = QIcon(first)
        copy.setIsMask(True)
    assert not copy.pixmap(16, 16).isNull()
    assert len(_ThemedEngine._clones) <= 3
