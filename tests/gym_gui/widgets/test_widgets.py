"""Badge, banner, segmented control, section, empty state and key cap."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.key_cap import KeyCap
from gym_gui.widgets.section import Section

MODES = (("human", "Human"), ("hybrid", "Hybrid"), ("agent", "Agent"))


def button(parent: QWidget, text: str) -> QPushButton:
    return next(child for child in parent.findChildren(QPushButton) if child.text() == text)


def test_an_option_is_activated_by_mouse_and_keyboard(theme: ThemeModel, qtbot: QtBot) -> None:
    """A click and an arrow key emit `activated`; `set_current` does not."""
    control = SegmentedControl(MODES, theme)
    qtbot.addWidget(control)
    control.show()
    activated: list[str] = []
    control.activated.connect(activated.append)
    assert control.current == "human"
    control.set_current("agent")
    assert (control.current, activated) == ("agent", [])
    QTest.mouseClick(button(control, "Hybrid"), Qt.MouseButton.LeftButton)
    assert (control.current, activated) == ("hybrid", ["hybrid"])
    control.activateWindow()
    button(control, "Hybrid").setFocus()
    qtbot.waitUntil(button(control, "Hybrid").hasFocus)
    QTest.keyClick(button(control, "Hybrid"), Qt.Key.Key_Right)
    assert (control.current, activated) == ("agent", ["hybrid", "agent"])


def test_a_disabled_option_has_its_reason_as_tool_tip(theme: ThemeModel, qtbot: QtBot) -> None:
    """A click on it has no effect."""
    control = SegmentedControl(MODES, theme)
    qtbot.addWidget(control)
    control.set_option_enabled("agent", False, "No agent supports this environment.")
    QTest.mouseClick(button(control, "Agent"), Qt.MouseButton.LeftButton)
    assert control.current == "human"
    assert button(control, "Agent").toolTip() == "No agent supports this environment."


def test_a_section_is_toggled_by_keyboard(theme: ThemeModel, qtbot: QtBot) -> None:
    """Space on the heading hides and shows the content, and updates the accessible name."""
    content = QLabel("Slippery")
    section = Section("Game configuration", content, theme)
    qtbot.addWidget(section)
    section.show()
    heading = button(section, "Game configuration")
    QTest.keyClick(heading, Qt.Key.Key_Space)
    assert not section.is_open
    assert content.isHidden()
    assert heading.accessibleName() == "Game configuration, collapsed"
    with qtbot.waitSignal(section.toggled):
        QTest.keyClick(heading, Qt.Key.Key_Space)
    assert content.isVisible()


def test_a_banner_is_hidden_without_a_message(theme: ThemeModel, qtbot: QtBot) -> None:
    """A new message replaces text and buttons; `clear` hides the banner."""
    banner = Banner(theme)
    qtbot.addWidget(banner)
    clicked: list[str] = []
    assert banner.isHidden()
    banner.show_message(
        "Live telemetry is off.", "warning", [("Turn on", lambda: clicked.append("on"))]
    )
    banner.show_message("Still off.", "bad", [("Turn it on", lambda: clicked.append("it"))])
    assert banner.message == "Still off."
    QTest.mouseClick(button(banner, "Turn it on"), Qt.MouseButton.LeftButton)
    assert clicked == ["it"]
    banner.clear()
    assert banner.isHidden()


def test_an_empty_state_has_a_button_for_its_action(theme: ThemeModel, qtbot: QtBot) -> None:
    """The button is visible only with an action, and emits `action_triggered`."""
    state = EmptyState("runs", "No runs yet", "Play or train something.", theme)
    qtbot.addWidget(state)
    state.show()
    assert not state.findChildren(QPushButton)[0].isVisible()
    state.show_message("No runs yet", "Play or train something.", "Train an agent")
    with qtbot.waitSignal(state.action_triggered):
        QTest.mouseClick(button(state, "Train an agent"), Qt.MouseButton.LeftButton)


def test_badge_and_key_cap_are_repainted_on_changes(theme: ThemeModel, qtbot: QtBot) -> None:
    """After a change of the theme, and when a key is pressed."""
    badge, cap = Badge("ready", "good", theme), KeyCap("←", theme)
    for widget in (badge, cap):
        qtbot.addWidget(widget)
        widget.resize(widget.sizeHint())
    light = badge.grab().toImage()
    released = cap.grab().toImage()
    cap.set_pressed(True)
    assert cap.grab().toImage() != released
    theme.choose("dark")
    QApplication.processEvents()
    assert badge.grab().toImage() != light
    badge.show_text("failed", "bad")
    assert (badge.text(), badge.tone) == ("failed", "bad")


def test_an_empty_state_wraps_long_text(theme: ThemeModel, qtbot: QtBot) -> None:
    """At any width, labels have the height that their wrapped text needs."""
    state = EmptyState("runs", "No episode is selected", "Choose one, or a run. " * 6, theme)
    qtbot.addWidget(state)
    for width in (160, 300, 900):
        state.resize(width, 600)
        state.grab()
        for label in state.findChildren(QLabel):
            assert label.height() >= label.heightForWidth(label.width())
