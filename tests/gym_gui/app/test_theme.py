"""The look: colours that can be read, applied to the application and changed while it runs."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.app.theme import apply_theme
from gym_gui.runtime.models.theme_model import DARK, LIGHT, Colours, ThemeModel
from gym_gui.widgets.styling import blend

_READABLE = 4.5
"""The contrast that WCAG asks of text at level AA."""


@pytest.fixture
def plain_application(qapp: QApplication) -> Iterator[QApplication]:
    """Looks as before when the test is over."""
    font, palette, sheet = qapp.font(), qapp.palette(), qapp.styleSheet()
    yield qapp
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)
    qapp.setFont(font)


def contrast(one: str, other: str) -> float:
    """As WCAG defines it: 1 to 21."""

    def brightness(colour: str) -> float:
        def linear(share: float) -> float:
            return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

        named = QColor(colour)
        red, green, blue = (linear(each) for each in (named.redF(), named.greenF(), named.blueF()))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lighter, darker = sorted((brightness(one), brightness(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_all_text_can_be_read_on_what_it_stands_on(colours: Colours) -> None:
    """Every colour of text has at least a contrast of 4.5 to every ground it is used on."""
    grounds = (colours.window, colours.surface, colours.raised)
    pairs = [(ink, on) for ink in (colours.text, colours.muted) for on in grounds]
    pairs += [(colours.text, colours.selection), (colours.on_accent, colours.accent)]
    for tone in (colours.good, colours.warning, colours.bad):
        pairs += [(tone, colours.surface), (tone, blend(tone, colours.surface, 0.08).name())]
    poor = [(ink, on, contrast(ink, on)) for ink, on in pairs if contrast(ink, on) < _READABLE]
    assert poor == []


def test_palette_and_style_sheet_follow_the_theme(
    plain_application: QApplication, theme: ThemeModel, qtbot: QtBot
) -> None:
    """Choosing another theme changes the whole application, and windows are painted again."""
    window = QWidget()
    qtbot.addWidget(window)
    theme.choose("light")
    apply_theme(plain_application, theme, window)
    role = QPalette.ColorRole.Window
    assert plain_application.palette().color(role) == QColor(LIGHT.surface)
    theme.choose("dark")
    qtbot.waitUntil(lambda: plain_application.palette().color(role) == QColor(DARK.surface))
    qtbot.waitUntil(window.updatesEnabled)
    assert DARK.accent in window.styleSheet()
    assert LIGHT.accent not in window.styleSheet()


def test_the_desktop_decides_while_nothing_else_is_chosen(
    plain_application: QApplication, theme: ThemeModel, qtbot: QtBot
) -> None:
    """A desktop that turns dark takes the window along, unless a theme was chosen."""
    window = QWidget()
    qtbot.addWidget(window)
    apply_theme(plain_application, theme, window)
    plain_application.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.colours is DARK
    theme.choose("light")
    assert theme.colours is LIGHT
    plain_application.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    theme.choose("system")
    assert theme.colours is LIGHT


def test_roles_are_styled(plain_application: QApplication, theme: ThemeModel, qtbot: QtBot) -> None:
    """`role` and `tone` make a button primary and words a warning."""
    theme.choose("dark")
    window = QWidget()
    qtbot.addWidget(window)
    apply_theme(plain_application, theme, window)
    button, label = QPushButton("Play", window), QLabel("Careful", window)
    button.setProperty("role", "primary")
    label.setProperty("tone", "warning")
    for widget in (button, label):
        widget.ensurePolished()
    button.resize(120, 40)
    middle = button.grab().toImage().pixelColor(12, 20)
    assert middle == QColor(DARK.accent)
    assert label.palette().color(QPalette.ColorRole.WindowText) == QColor(DARK.warning)
