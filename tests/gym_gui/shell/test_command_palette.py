"""CommandPalette: search, recent commands and disabled commands."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListView, QMainWindow
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.view.command_list import CommandList, fuzzy_match, matches_prefixes
from gym_gui.shell.view.command_palette import CommandPalette


@pytest.fixture
def editor(qtbot: QtBot) -> QLineEdit:
    """The widget that has the focus."""
    widget = QLineEdit()
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def window(editor: QLineEdit, qtbot: QtBot) -> QMainWindow:
    widget = QMainWindow()
    widget.setCentralWidget(editor)
    widget.resize(900, 600)
    qtbot.addWidget(widget)
    widget.show()
    widget.activateWindow()
    editor.setFocus()
    return widget


@pytest.fixture
def palette(window: QMainWindow, theme: ThemeModel) -> CommandPalette:
    return CommandPalette(theme, window)


@pytest.fixture
def actions(window: QMainWindow) -> list[QAction]:
    widget = []
    for name, text, tip in (
        ("play", "Play", "Start a session."),
        ("pause", "Pause or resume", "Pause or resume the session."),
        ("layout", "Reset the layout", "Restore all panels."),
        ("video", "Play video", "There is no video of this run."),
    ):
        action = QAction(text, window)
        action.setObjectName(name)
        action.setToolTip(tip)
        widget.append(action)
    widget[0].setShortcut(QKeySequence("Ctrl+Return"))
    widget[3].setEnabled(False)
    return widget


def query_field(palette: CommandPalette) -> QLineEdit:
    return palette.findChildren(QLineEdit)[0]


def listed_commands(palette: CommandPalette) -> list[str]:
    model = palette.findChildren(QListView)[0].model()
    assert isinstance(model, CommandList)
    return [model.hit(row).text for row in range(model.rowCount())]


def test_fuzzy_match() -> None:
    """Starts of words score highest, the order of letters matters, and tips match by words."""
    initials, scattered = fuzzy_match("rl", "Reset the layout"), fuzzy_match("rl", "Order all")
    assert initials is not None
    assert scattered is not None
    assert initials.positions == (0, 10)
    assert initials.score > scattered.score
    assert fuzzy_match("lr", "Rl") is None
    assert matches_prefixes("pan", "Restore all panels.")
    assert not matches_prefixes("pbk", "Restore all panels.")


def test_enter_triggers_the_best_match(
    palette: CommandPalette, actions: list[QAction], editor: QLineEdit, qtbot: QtBot
) -> None:
    """Typing filters the list; Enter triggers the first row and restores the focus."""
    palette.open_with(actions)
    assert query_field(palette).hasFocus()
    QTest.keyClicks(query_field(palette), "rlay")
    assert listed_commands(palette)[0] == "Reset the layout"
    with qtbot.waitSignals([actions[2].triggered, palette.triggered]):
        QTest.keyClick(query_field(palette), Qt.Key.Key_Return)
    assert palette.isHidden()
    assert editor.hasFocus()


def test_recent_commands_are_first(palette: CommandPalette, actions: list[QAction]) -> None:
    """The names of recent commands can be saved."""
    palette.open_with(actions)
    QTest.keyClick(query_field(palette), Qt.Key.Key_Down)
    QTest.keyClick(query_field(palette), Qt.Key.Key_Return)
    palette.open_with(actions)
    assert listed_commands(palette) == ["Pause or resume", "Play", "Reset the layout", "Play video"]
    assert palette.recent == ("pause",)
    palette.dismiss()


def test_disabled_commands_are_listed_with_a_reason(
    palette: CommandPalette, actions: list[QAction]
) -> None:
    """The accessible text has the reason; Enter does not close the palette."""
    palette.open_with(actions)
    QTest.keyClicks(query_field(palette), "video")
    model = palette.findChildren(QListView)[0].model()
    text = model.data(model.index(0, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert text == "Play video, not available, There is no video of this run."
    QTest.keyClick(query_field(palette), Qt.Key.Key_Return)
    assert palette.isVisible()
    QTest.keyClick(query_field(palette), Qt.Key.Key_Escape)
    assert palette.isHidden()


def test_a_click_outside_closes_the_palette(
    palette: CommandPalette, actions: list[QAction], window: QMainWindow, editor: QLineEdit
) -> None:
    """Also if no command matches."""
    palette.open_with(actions)
    QTest.keyClicks(query_field(palette), "zzz")
    assert listed_commands(palette) == []
    assert palette.grab().width() <= window.width()
    QTest.mouseClick(editor, Qt.MouseButton.LeftButton)
    assert palette.isHidden()
