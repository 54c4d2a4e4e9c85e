"""Icons: each is drawn, sharp, and in the colours of the theme."""

from typing import get_args

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QAction, QColor, QIcon, QImage
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import DARK, LIGHT, ThemeModel
from gym_gui.widgets.icons import IconName, _ThemedEngine, icon, keep_icon


def inks(image: QImage) -> set[str]:
    """The colours of what is fully painted."""
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


@pytest.mark.parametrize("name", get_args(IconName))
def test_every_icon_is_drawn(name: IconName, theme: ThemeModel, qtbot: QtBot) -> None:
    """No name without a drawing, and no drawing that Qt cannot read (it would warn)."""
    assert qtbot is not None
    image = icon(name, theme).pixmap(24, 24).toImage()
    assert any(image.pixelColor(x, y).alpha() > 128 for x in range(24) for y in range(24))


def test_an_icon_has_the_pixels_of_the_screen(theme: ThemeModel, qtbot: QtBot) -> None:
    """On a screen of twice the density it is drawn with twice the pixels, not stretched."""
    assert qtbot is not None
    pixmap = icon("play", theme).pixmap(QSize(20, 20), 2.0)
    assert pixmap.size() == QSize(40, 40)
    assert pixmap.devicePixelRatio() == 2.0


def test_an_icon_follows_the_theme(theme: ThemeModel, qtbot: QtBot) -> None:
    """One that is held already is painted in the new colours, and grey when disabled."""
    assert qtbot is not None
    held = icon("stop", theme)
    assert inks(held.pixmap(24, 24).toImage()) == {QColor(LIGHT.text).name()}
    theme.choose("dark")
    assert inks(held.pixmap(24, 24).toImage()) == {QColor(DARK.text).name()}
    grey = held.pixmap(QSize(24, 24), QIcon.Mode.Disabled).toImage()
    assert inks(grey) == {QColor(DARK.disabled).name()}


def test_who_keeps_an_icon_is_told_of_the_theme(theme: ThemeModel, qtbot: QtBot) -> None:
    """A button is painted again and an action says that it changed; a gone one is no trouble."""
    button, action = QToolButton(), QAction("Play")
    qtbot.addWidget(button)
    keep_icon(button, "play", theme)
    keep_icon(action, "play", theme)
    with qtbot.waitSignal(action.changed):
        theme.choose("dark")
    del action
    theme.choose("light")
    assert not button.icon().isNull()


def test_copies_of_an_icon_are_let_go_with_it(theme: ThemeModel, qtbot: QtBot) -> None:
    """Qt clones what paints an icon; only clones that are still in use are kept."""
    assert qtbot is not None
    first = icon("stop", theme)
    for _ in range(20):
        copy = QIcon(first)
        copy.setIsMask(True)
    assert not copy.pixmap(16, 16).isNull()
    assert len(_ThemedEngine._clones) <= 3
