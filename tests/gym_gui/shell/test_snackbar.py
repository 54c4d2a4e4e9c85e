"""Snackbar: passing messages, one after another."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.view import snackbar as module
from gym_gui.shell.view.snackbar import Snackbar


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
    made.statusBar()
    made.resize(900, 600)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def bar(window: QMainWindow, notices: Notices, theme: ThemeModel) -> Snackbar:
    return Snackbar(notices, theme, window)


def test_messages_come_one_after_another(bar: Snackbar, notices: Notices) -> None:
    """The second waits until the first is closed, and the same words do not come twice."""
    assert bar.isHidden()
    notices.post("Saved.")
    notices.post("Saved.")
    notices.post("Exported.")
    assert bar.shown is not None
    assert (bar.shown.message, bar.waiting) == ("Saved.", 1)
    QTest.mouseClick(bar.findChildren(QToolButton)[0], Qt.MouseButton.LeftButton)
    assert bar.shown.message == "Exported."
    bar.dismiss()
    assert bar.isHidden()


def test_the_action_is_carried_out_once(bar: Snackbar, notices: Notices) -> None:
    """Its button runs what was offered and closes the message."""
    done: list[str] = []
    notices.offer("The run was deleted.", "Undo", lambda: done.append("undone"))
    QTest.mouseClick(bar.findChildren(QPushButton)[0], Qt.MouseButton.LeftButton)
    assert done == ["undone"]
    assert bar.isHidden()


def test_what_can_be_undone_comes_first(bar: Snackbar, notices: Notices) -> None:
    """In place of what was said on the same topic, and gone when it no longer holds."""
    notices.post("Saved.")
    notices.offer("Deleted 1 run.", "Undo", bar.update, topic="deleted", stays_ms=10_000)
    notices.offer("Deleted 2 runs.", "Undo", bar.update, topic="deleted", stays_ms=10_000)
    assert bar.shown is not None
    assert (bar.shown.message, bar.waiting) == ("Deleted 2 runs.", 1)
    notices.withdraw("other")
    assert bar.shown.message == "Deleted 2 runs."
    notices.withdraw("deleted")
    assert (bar.shown.message, bar.waiting) == ("Saved.", 0)


def test_it_goes_by_itself_but_not_under_the_mouse(
    bar: Snackbar, notices: Notices, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message leaves after its time; while the mouse is on it the time stands still."""
    monkeypatch.setattr(module, "_STAYS_MS", 20)
    notices.post("Saved.")
    here = bar.rect().center().toPointF()
    QApplication.sendEvent(bar, QEnterEvent(here, here, here))
    assert not bar._clock.isActive()
    QApplication.sendEvent(bar, QEvent(QEvent.Type.Leave))
    qtbot.waitUntil(bar.isHidden)


def test_it_never_takes_the_keyboard_and_gives_it_back(
    bar: Snackbar, notices: Notices, window: QMainWindow, editor: QLineEdit
) -> None:
    """Typing goes on while it appears; reached on purpose, Esc closes it."""
    window.activateWindow()
    editor.setFocus()
    notices.offer("The daemon is lost.", "Start it", lambda: None)
    assert editor.hasFocus()
    bar.reach()
    QTest.keyClick(bar.findChildren(QPushButton)[0], Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert editor.hasFocus()


def test_it_stays_inside_its_window(
    bar: Snackbar, notices: Notices, window: QMainWindow, qtbot: QtBot
) -> None:
    """A long message wraps, and a window that shrinks takes it along."""
    notices.post("A very long message that says what happened and what to do next. " * 4)
    for width, height in ((900, 600), (420, 500)):
        window.resize(width, height)
        qtbot.waitUntil(lambda: window.rect().contains(bar.geometry()))
        assert bar.geometry().bottom() < window.statusBar().geometry().top()
