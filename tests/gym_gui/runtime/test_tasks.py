"""Tasks: blocking work on threads, results on the UI thread."""

import threading
from functools import partial

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.runtime.tasks import Tasks
from mosaic.contract.errors import UserError


def test_the_result_arrives_on_the_ui_thread(tasks: Tasks, qtbot: QtBot) -> None:
    """`op` is called on another thread."""
    owner, calls = QObject(), []

    tasks.run(
        owner,
        threading.get_ident,
        lambda worker: calls.append((worker, threading.get_ident())),
    )

    qtbot.waitUntil(lambda: bool(calls))
    worker, receiver = calls[0]
    assert worker != receiver == threading.get_ident()


def test_an_error_without_a_callback_is_emitted(tasks: Tasks, qtbot: QtBot) -> None:
    """A `UserError` without a failure callback is emitted as `failed`."""

    def fail() -> None:
        raise UserError("The disk is full.", remedy="Free some space.", code="T1")

    with qtbot.waitSignal(tasks.failed) as blocker:
        tasks.run(QObject(tasks), fail)

    assert blocker.args[0].remedy == "Free some space."


def test_a_deleted_parent_gets_no_callback(tasks: Tasks, qtbot: QtBot) -> None:
    """For example a view that was closed since."""
    owner, proceed = QObject(), threading.Event()
    results: list[bool] = []
    tasks.run(owner, proceed.wait, results.append)

    with qtbot.waitSignal(owner.destroyed):
        owner.deleteLater()
    proceed.set()

    qtbot.waitUntil(lambda: not tasks.is_busy)
    assert results == []


def test_close_does_not_wait_for_blocked_tasks(qtbot: QtBot) -> None:
    """A blocked task delays neither closing the window nor the end of the process."""
    tasks, started, proceed = Tasks(), threading.Event(), threading.Event()
    results: list[None] = []

    def block() -> None:
        started.set()
        proceed.wait()

    tasks.run(QObject(tasks), block, results.append)
    qtbot.waitUntil(started.is_set)
    blocked = [thread for thread in threading.enumerate() if thread.name.startswith("task")]
    tasks.close()

    assert not tasks.join(0.0)
    assert all(thread.daemon for thread in blocked)
    proceed.set()
    assert tasks.join()
    assert results == []


def test_more_tasks_than_threads(tasks: Tasks, qtbot: QtBot) -> None:
    """Each is called exactly once."""
    results: list[int] = []
    for number in range(100):
        tasks.run(tasks, partial(abs, number), results.append)

    qtbot.waitUntil(lambda: not tasks.is_busy)
    assert sorted(results) == list(range(100))
