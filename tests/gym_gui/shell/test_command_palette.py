"""CommandPalette: found by a few letters, carried out by Enter."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListView, QMainWindow
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.view.command_list import CommandList
from gym_gui.shell.view.command_palette import CommandPalette
from gym_gui.shell.view.fuzzy_match import has_words, match


@pytest.fixture
def editor(qtbot: QtBot) -> QLineEdit:
    """What somebody types in."""
    made = QLineEdit()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def window(editor: QLineEdit, qtbot: QtBot) -> QMainWindow:
    made = QMainWindow()
    made.setCentralWidget(editor)
    made.resize(900, 600)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    editor.setFocus()
    return made


@pytest.fixture
def palette(window: QMainWindow, theme: ThemeModel) -> CommandPalette:
    return CommandPalette(theme, window)


@pytest.fixture
def actions(window: QMainWindow) -> list[QAction]:
    made = []
    for name, text, tip in (
        ("play", "Play", "Start a session."),
        ("pause", "Pause or go on", "Let the session stand still."),
        ("layout", "Reset the layout", "Put all panels back."),
        ("video", "Play video", "There is no video of this run."),
    ):
        action = QAction(text, window)
        action.setObjectName(name)
        action.setToolTip(tip)
        made.append(action)
    made[0].setShortcut(QKeySequence("Ctrl+Return"))
    made[3].setEnabled(False)
    return made


def line(palette: CommandPalette) -> QLineEdit:
    return palette.findChildren(QLineEdit)[0]


def shown(palette: CommandPalette) -> list[str]:
    model = palette.findChildren(QListView)[0].model()
    assert isinstance(model, CommandList)
    return [model.hit(row).text for row in range(model.rowCount())]


def test_letters_find_words() -> None:
    """Starts of words count most, letters out of order nothing, and a tip needs whole words."""
    initials, scattered = match("rl", "Reset the layout"), match("rl", "Order all")
    assert initials is not None
    assert scattered is not None
    assert initials.places == (0, 10)
    assert initials.score > scattered.score
    assert match("lr", "Rl") is None
    assert has_words("pan", "Put all panels back.")
    assert not has_words("pbk", "Put all panels back.")


def test_enter_carries_out_the_best_hit(
    palette: CommandPalette, actions: list[QAction], editor: QLineEdit, qtbot: QtBot
) -> None:
    """Typed letters narrow the list; Enter runs the first, closed and with the focus given back."""
    palette.open_with(actions)
    assert line(palette).hasFocus()
    QTest.keyClicks(line(palette), "rlay")
    assert shown(palette)[0] == "Reset the layout"
    with qtbot.waitSignals([actions[2].triggered, palette.used]):
        QTest.keyClick(line(palette), Qt.Key.Key_Return)
    assert palette.isHidden()
    assert editor.hasFocus()


def test_what_was_used_last_comes_first(palette: CommandPalette, actions: list[QAction]) -> None:
    """Opened again, the list begins with it; the names can be kept for the next start."""
    palette.open_with(actions)
    QTest.keyClick(line(palette), Qt.Key.Key_Down)
    QTest.keyClick(line(palette), Qt.Key.Key_Return)
    palette.open_with(actions)
    assert shown(palette) == ["Pause or go on", "Play", "Reset the layout", "Play video"]
    assert palette.recent == ("pause",)
    palette.dismiss()


def test_what_cannot_be_used_says_why_and_does_nothing(
    palette: CommandPalette, actions: list[QAction]
) -> None:
    """It stays in the list, with its reason for eyes and ears; Enter leaves the palette open."""
    palette.open_with(actions)
    QTest.keyClicks(line(palette), "video")
    model = palette.findChildren(QListView)[0].model()
    told = model.data(model.index(0, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert told == "Play video, not available, There is no video of this run."
    QTest.keyClick(line(palette), Qt.Key.Key_Return)
    assert palette.isVisible()
    QTest.keyClick(line(palette), Qt.Key.Key_Escape)
    assert palette.isHidden()


def test_a_click_beside_it_closes_it(
    palette: CommandPalette, actions: list[QAction], window: QMainWindow, editor: QLineEdit
) -> None:
    """And one with no hits says so."""
    palette.open_with(actions)
    QTest.keyClicks(line(palette), "zzz")
    assert shown(palette) == []
    assert palette.grab().width() <= window.width()
    QTest.mouseClick(editor, Qt.MouseButton.LeftButton)
    assert palette.isHidden()
