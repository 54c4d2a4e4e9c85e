"""Where garbage is collected while there is a window."""

import gc
import threading
import weakref

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.services.ui_collection import UiCollection
from tests.gym_gui.conftest import PATIENCE_MS


def make_garbage(destroyed_on: list[int]) -> None:
    """A Qt object that nothing but itself refers to."""
    alone = QObject()
    alone.itself = alone  # type: ignore[attr-defined]
    weakref.finalize(alone, lambda: destroyed_on.append(threading.get_ident()))


def allocate(kept: list[list[int]]) -> None:
    """What is kept is what makes Python look for garbage."""
    kept += ([number] for number in range(10_000))


def test_qt_objects_are_destroyed_on_the_ui_thread(qtbot: QtBot) -> None:
    """Even when all the work, and so all the reason to collect, is on another thread.

    Every test of the window has such a collection.
    """
    destroyed_on: list[int] = []
    kept: list[list[int]] = []
    make_garbage(destroyed_on)
    worker = threading.Thread(target=allocate, args=(kept,))
    worker.start()
    worker.join()
    assert not destroyed_on

    def check() -> None:
        allocate(kept)
        assert destroyed_on == [threading.get_ident()]

    qtbot.waitUntil(check, timeout=PATIENCE_MS)


def test_afterwards_python_collects_by_itself() -> None:
    """A program that goes on without a window is as it was."""
    collection = UiCollection()
    assert not gc.isenabled()
    collection.close()
    assert gc.isenabled()
