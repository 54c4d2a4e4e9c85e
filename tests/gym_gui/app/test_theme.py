"""The theme: contrast, palette and style sheet, and changes at run time."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.app.theme import apply_theme
from gym_gui.runtime.models.theme_model import DARK, LIGHT, Colours, ThemeModel
from gym_gui.widgets.styling import blend

_MIN_CONTRAST = 4.5
"""The minimum contrast of text at WCAG level AA."""


@pytest.fixture
def plain_application(qapp: QApplication) -> Iterator[QApplication]:
    """The application; its font, palette and style sheet are restored after the test."""
    font, palette, sheet = qapp.font(), qapp.palette(), qapp.styleSheet()
    yield qapp
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)
    qapp.setFont(font)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG, from 1 to 21."""

    def luminance(colour: str) -> float:
        def linear(channel: float) -> float:
            return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

        named = QColor(colour)
        red, green, blue = (
            linear(channel) for channel in (named.redF(), named.greenF(), named.blueF())
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_sufficient_contrast(colours: Colours) -> None:
    """Every text colour has a contrast of at least 4.5 to every background it is used on."""
    backgrounds = (colours.window, colours.surface, colours.raised)
    pairs = [
        (ink, background) for ink in (colours.text, colours.muted) for background in backgrounds
    ]
    pairs += [(colours.text, colours.selection), (colours.on_accent, colours.accent)]
    for tone in (colours.good, colours.warning, colours.bad):
        pairs += [(tone, colours.surface), (tone, blend(tone, colours.surface, 0.08).name())]
    poor = [
        (ink, background, contrast(ink, background))
        for ink, background in pairs
        if contrast(ink, background) < _MIN_CONTRAST
    ]
    assert poor == []


def test_palette_and_style_sheet_follow_the_theme(
    plain_application: QApplication, theme: ThemeModel, qtbot: QtBot
) -> None:
    """Another theme changes the palette and the style sheet, and updates are enabled again."""
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


def test_a_theme_chosen_during_a_change_is_applied_after_it(
    plain_application: QApplication, theme: ThemeModel, qtbot: QtBot
) -> None:
    """Two quick changes end with the palette and the style sheet of the second one."""

    class Window(QWidget):
        def setStyleSheet(self, sheet: str) -> None:  # noqa: N802 - Qt's name
            super().setStyleSheet(sheet)
            if DARK.surface in sheet:
                assert not self.updatesEnabled()
                theme.choose("light")

    window = Window()
    qtbot.addWidget(window)
    theme.choose("light")
    apply_theme(plain_application, theme, window)
    qtbot.waitUntil(window.updatesEnabled)

    theme.choose("dark")

    qtbot.waitUntil(lambda: window.updatesEnabled() and LIGHT.surface in window.styleSheet())
    role = QPalette.ColorRole.Window
    assert plain_application.palette().color(role) == QColor(LIGHT.surface)


def test_the_system_theme_follows_the_desktop(
    plain_application: QApplication, theme: ThemeModel, qtbot: QtBot
) -> None:
    """The theme follows the desktop, unless another theme is selected."""
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
    """`role` and `tone` select the styles of a primary button and of a warning."""
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
