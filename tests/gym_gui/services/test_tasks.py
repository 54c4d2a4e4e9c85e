"""Slow work never holds up the window, and what comes of it arrives there."""

import threading

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.services.tasks import Tasks
from mosaic.contract.errors import UserError


def test_the_result_arrives_on_the_ui_thread(tasks: Tasks, qtbot: QtBot) -> None:
    """`op` runs elsewhere; its result is handed over where widgets may be touched."""
    owner, seen = QObject(), []

    tasks.run(
        owner,
        threading.get_ident,
        lambda worker: seen.append((worker, threading.get_ident())),
    )

    qtbot.waitUntil(lambda: bool(seen))
    worker, receiver = seen[0]
    assert worker != receiver == threading.get_ident()


def test_an_error_that_nobody_asked_for_is_shown(tasks: Tasks, qtbot: QtBot) -> None:
    """A user error without a handler becomes `failed`, with its remedy."""

    def refuse() -> None:
        raise UserError("It is full.", remedy="Free some space.", code="T1")

    with qtbot.waitSignal(tasks.failed) as told:
        tasks.run(QObject(tasks), refuse)

    assert told.args[0].remedy == "Free some space."


def test_nobody_is_called_back_who_is_gone(tasks: Tasks, qtbot: QtBot) -> None:
    """A view that was closed meanwhile is left alone."""
    owner, proceed, seen = QObject(), threading.Event(), []
    tasks.run(owner, proceed.wait, seen.append)

    owner.deleteLater()
    qtbot.waitSignal(owner.destroyed).wait()
    proceed.set()

    qtbot.waitUntil(lambda: not tasks.is_busy)
    assert seen == []
