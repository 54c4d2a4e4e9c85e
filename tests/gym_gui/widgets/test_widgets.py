"""The small widgets: by keyboard, by mouse, and what they say."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.key_cap import KeyCap
from gym_gui.widgets.section import Section
from gym_gui.widgets.segmented import SegmentedControl

MODES = (("human", "Human"), ("hybrid", "Hybrid"), ("agent", "Agent"))


def button(parent: QWidget, text: str) -> QPushButton:
    return next(each for each in parent.findChildren(QPushButton) if each.text() == text)


def test_a_choice_by_mouse_and_keyboard(theme: ThemeModel, qtbot: QtBot) -> None:
    """A click and an arrow key choose; what the program chooses is not reported."""
    control = SegmentedControl(MODES, theme)
    qtbot.addWidget(control)
    control.show()
    heard: list[str] = []
    control.chosen.connect(heard.append)
    assert control.current == "human"
    control.choose("agent")
    assert (control.current, heard) == ("agent", [])
    QTest.mouseClick(button(control, "Hybrid"), Qt.MouseButton.LeftButton)
    assert (control.current, heard) == ("hybrid", ["hybrid"])
    control.activateWindow()
    button(control, "Hybrid").setFocus()
    qtbot.waitUntil(button(control, "Hybrid").hasFocus)
    QTest.keyClick(button(control, "Hybrid"), Qt.Key.Key_Right)
    assert (control.current, heard) == ("agent", ["hybrid", "agent"])


def test_a_choice_that_cannot_be_made_says_why(theme: ThemeModel, qtbot: QtBot) -> None:
    """A click on it does nothing, and its tooltip is the reason."""
    control = SegmentedControl(MODES, theme)
    qtbot.addWidget(control)
    control.set_enabled_option("agent", False, "No agent knows this environment.")
    QTest.mouseClick(button(control, "Agent"), Qt.MouseButton.LeftButton)
    assert control.current == "human"
    assert button(control, "Agent").toolTip() == "No agent knows this environment."


def test_a_section_folds_by_keyboard(theme: ThemeModel, qtbot: QtBot) -> None:
    """Space on its heading hides and shows the content, and a screen reader hears which."""
    content = QLabel("Slippery")
    section = Section("Game configuration", content, theme)
    qtbot.addWidget(section)
    section.show()
    heading = button(section, "Game configuration")
    QTest.keyClick(heading, Qt.Key.Key_Space)
    assert not section.is_open
    assert content.isHidden()
    assert heading.accessibleName() == "Game configuration, folded"
    with qtbot.waitSignal(section.toggled):
        QTest.keyClick(heading, Qt.Key.Key_Space)
    assert content.isVisible()


def test_a_banner_takes_room_only_while_it_speaks(theme: ThemeModel, qtbot: QtBot) -> None:
    """It carries the message and its buttons, and is gone when cleared."""
    banner = Banner(theme)
    qtbot.addWidget(banner)
    pressed: list[str] = []
    assert banner.isHidden()
    banner.say("Live telemetry is off.", "warning", [("Turn on", lambda: pressed.append("on"))])
    banner.say("Still off.", "bad", [("Turn it on", lambda: pressed.append("it"))])
    assert banner.message == "Still off."
    QTest.mouseClick(button(banner, "Turn it on"), Qt.MouseButton.LeftButton)
    assert pressed == ["it"]
    banner.clear()
    assert banner.isHidden()


def test_an_empty_state_offers_what_to_do(theme: ThemeModel, qtbot: QtBot) -> None:
    """The button is there only with an action, and pressing it is reported."""
    state = EmptyState("runs", "No runs yet", "Play or train something.", theme)
    qtbot.addWidget(state)
    state.show()
    assert not state.findChildren(QPushButton)[0].isVisible()
    state.say("No runs yet", "Play or train something.", "Train an agent")
    with qtbot.waitSignal(state.acted):
        QTest.mouseClick(button(state, "Train an agent"), Qt.MouseButton.LeftButton)


def test_badge_and_key_cap_paint_in_both_themes(theme: ThemeModel, qtbot: QtBot) -> None:
    """They look different after the theme changed, and a lit key different from one at rest."""
    badge, cap = Badge("ready", "good", theme), KeyCap("←", theme)
    for widget in (badge, cap):
        qtbot.addWidget(widget)
        widget.resize(widget.sizeHint())
    light = badge.grab().toImage()
    dim = cap.grab().toImage()
    cap.set_lit(True)
    assert cap.grab().toImage() != dim
    theme.choose("dark")
    QApplication.processEvents()
    assert badge.grab().toImage() != light
    badge.show_text("failed", "bad")
    assert (badge.text(), badge.tone) == ("failed", "bad")


def test_an_empty_state_cuts_no_words_off(theme: ThemeModel, qtbot: QtBot) -> None:
    """In a narrow place its sentences wrap and get the height they need."""
    state = EmptyState("runs", "No episode is selected", "Choose one, or a run. " * 6, theme)
    qtbot.addWidget(state)
    for width in (160, 300, 900):
        state.resize(width, 600)
        state.grab()
        for label in state.findChildren(QLabel):
            assert label.height() >= label.heightForWidth(label.width())
