"""Slow work never holds up the window, and what comes of it arrives there."""

import threading
from functools import partial

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.runtime.tasks import Tasks
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
    owner, proceed = QObject(), threading.Event()
    seen: list[bool] = []
    tasks.run(owner, proceed.wait, seen.append)

    with qtbot.waitSignal(owner.destroyed):
        owner.deleteLater()
    proceed.set()

    qtbot.waitUntil(lambda: not tasks.is_busy)
    assert seen == []


def test_closing_does_not_wait_for_what_takes_too_long(qtbot: QtBot) -> None:
    """A task that hangs holds up neither the closing of the window nor the end of the process."""
    tasks, begun, proceed = Tasks(), threading.Event(), threading.Event()
    seen: list[None] = []

    def hang() -> None:
        begun.set()
        proceed.wait()

    tasks.run(QObject(tasks), hang, seen.append)
    qtbot.waitUntil(begun.is_set)
    hung = [thread for thread in threading.enumerate() if thread.name.startswith("task")]
    tasks.close()

    assert not tasks.join(0.0)
    assert all(thread.daemon for thread in hung)
    proceed.set()
    assert tasks.join()
    assert seen == []


def test_many_at_once_are_all_carried_out(tasks: Tasks, qtbot: QtBot) -> None:
    """More than there are threads: none is forgotten, and none is done twice."""
    seen: list[int] = []
    for number in range(100):
        tasks.run(tasks, partial(abs, number), seen.append)

    qtbot.waitUntil(lambda: not tasks.is_busy)
    assert sorted(seen) == list(range(100))
