"""UiCollection: garbage is collected on the UI thread only."""

import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.runtime.ui_collection import UiCollection
from tests.gym_gui.conftest import TIMEOUT_MS

PROGRAM = Path(__file__).with_name("destroying_qt_objects.py")
TIMEOUT_S = 60


def make_garbage(destroyed_on: list[int]) -> None:
    """Create a Qt object that only references itself."""
    cyclic = QObject()
    cyclic.itself = cyclic  # type: ignore[attr-defined]
    weakref.finalize(cyclic, lambda: destroyed_on.append(threading.get_ident()))


def allocate(objects: list[list[int]]) -> None:
    """Allocate enough objects for a collection to be due."""
    objects += ([number] for number in range(10_000))


def test_qt_objects_are_destroyed_on_the_ui_thread(qtbot: QtBot) -> None:
    """Even if all allocations are on another thread. `conftest` creates the collection."""
    destroyed_on: list[int] = []
    objects: list[list[int]] = []
    make_garbage(destroyed_on)
    worker = threading.Thread(target=allocate, args=(objects,))
    worker.start()
    worker.join()
    assert not destroyed_on

    def check() -> None:
        allocate(objects)
        assert destroyed_on == [threading.get_ident()]

    qtbot.waitUntil(check, timeout=TIMEOUT_MS)


def test_close_collects_and_leaves_the_automatic_collector_off() -> None:
    """Objects of the window are destroyed later, which must not start a collection."""
    destroyed_on: list[int] = []
    collection = UiCollection()
    make_garbage(destroyed_on)
    collection.close()
    assert destroyed_on == [threading.get_ident()]
    assert not gc.isenabled()


def test_destroying_qt_objects_after_close_does_not_deadlock() -> None:
    """With the automatic collector, the first of 20 rounds would deadlock on a mutex."""
    finished = subprocess.run(
        [sys.executable, PROGRAM], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert finished.stdout == "done\n", finished.stderr
    assert finished.returncode == 0
