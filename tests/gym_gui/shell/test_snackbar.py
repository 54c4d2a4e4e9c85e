"""Snackbar: notices, one after another."""

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
    """The widget that has the focus."""
    widget = QLineEdit()
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def window(editor: QLineEdit, qtbot: QtBot) -> QMainWindow:
    widget = QMainWindow()
    widget.setCentralWidget(editor)
    widget.statusBar()
    widget.resize(900, 600)
    qtbot.addWidget(widget)
    widget.show()
    return widget


@pytest.fixture
def bar(window: QMainWindow, notices: Notices, theme: ThemeModel) -> Snackbar:
    return Snackbar(notices, theme, window)


def test_notices_are_queued(bar: Snackbar, notices: Notices) -> None:
    """The second is shown after the first is closed; a repeated message is not queued."""
    assert bar.isHidden()
    notices.post("Saved.")
    notices.post("Saved.")
    notices.post("Exported.")
    assert bar.current is not None
    assert (bar.current.message, bar.pending) == ("Saved.", 1)
    QTest.mouseClick(bar.findChildren(QToolButton)[0], Qt.MouseButton.LeftButton)
    assert bar.current.message == "Exported."
    bar.dismiss()
    assert bar.isHidden()


def test_the_action_closes_the_notice(bar: Snackbar, notices: Notices) -> None:
    """The button runs the action once."""
    done: list[str] = []
    notices.offer("The run was deleted.", "Undo", lambda: done.append("undone"))
    QTest.mouseClick(bar.findChildren(QPushButton)[0], Qt.MouseButton.LeftButton)
    assert done == ["undone"]
    assert bar.isHidden()


def test_a_notice_with_a_topic_is_shown_first(bar: Snackbar, notices: Notices) -> None:
    """It replaces the notice of the same topic, until it is withdrawn."""
    notices.post("Saved.")
    notices.offer("Deleted 1 run.", "Undo", bar.update, topic="deleted", duration_ms=10_000)
    notices.offer("Deleted 2 runs.", "Undo", bar.update, topic="deleted", duration_ms=10_000)
    assert bar.current is not None
    assert (bar.current.message, bar.pending) == ("Deleted 2 runs.", 1)
    notices.withdraw("other")
    assert bar.current.message == "Deleted 2 runs."
    notices.withdraw("deleted")
    assert (bar.current.message, bar.pending) == ("Saved.", 0)


def test_a_notice_closes_after_its_duration(
    bar: Snackbar, notices: Notices, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The timer stops while the mouse is over it."""
    monkeypatch.setattr(module, "_DURATION_MS", 20)
    notices.post("Saved.")
    position = bar.rect().center().toPointF()
    QApplication.sendEvent(bar, QEnterEvent(position, position, position))
    assert not bar._timer.isActive()
    QApplication.sendEvent(bar, QEvent(QEvent.Type.Leave))
    qtbot.waitUntil(bar.isHidden)


def test_it_does_not_take_the_focus(
    bar: Snackbar, notices: Notices, window: QMainWindow, editor: QLineEdit
) -> None:
    """Esc in its focused button closes it and restores the focus."""
    window.activateWindow()
    editor.setFocus()
    notices.offer("The daemon is lost.", "Start it", lambda: None)
    assert editor.hasFocus()
    bar.focus_button()
    QTest.keyClick(bar.findChildren(QPushButton)[0], Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert editor.hasFocus()


def test_it_stays_inside_the_window(
    bar: Snackbar, notices: Notices, window: QMainWindow, qtbot: QtBot
) -> None:
    """A long message is wrapped, also after the window is resized."""
    notices.post("A very long message that says what happened and what to do next. " * 4)
    for width, height in ((900, 600), (420, 500)):
        window.resize(width, height)
        qtbot.waitUntil(lambda: window.rect().contains(bar.geometry()))
        assert bar.geometry().bottom() < window.statusBar().geometry().top()
