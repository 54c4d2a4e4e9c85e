"""The window in all sizes and both themes: nothing is cut off, and it stays as it was left."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt

from gym_gui.app.wiring import AppContext
from gym_gui.runtime.models.theme_model import ThemeChoice
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS
from tests.gym_gui.end_to_end.conftest import forget_window
from tests.gym_gui.end_to_end.layout_check import faults
from tests.gym_gui.end_to_end.person import Person
from tests.gym_gui.end_to_end.screens import each_other_screen, each_played_view
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_SIZES = (QSize(1024, 700), QSize(1440, 900), QSize(3840, 2160))
_LOOKS = 5
_THEMES: tuple[ThemeChoice, ...] = ("light", "dark")


@pytest.mark.long
def test_nothing_is_cut_off(person: Person) -> None:
    """In every view, with a session and a replay in it, at three sizes and in both themes."""
    run_id = person.play("FrozenLake-v1", is_slippery=False)
    person.walk()
    person.bench.conduct.replay(run_id, 0)
    replay = person.models.replay
    person.wait(lambda: replay.state.is_checked)
    replay.seek(3)
    person.wait(lambda: replay.step is not None)
    found = faults_in_all_looks(person, each_played_view)
    person.press(Qt.Key.Key_Return)
    person.models.session_panel.stop()
    person.wait(lambda: not person.models.play.is_on)
    found += faults_in_all_looks(person, each_other_screen)
    assert not found, "\n".join(dict.fromkeys(found))


def faults_in_all_looks(
    person: Person, screens: Callable[[AppContext], Iterator[str]]
) -> list[str]:
    person.window.setUpdatesEnabled(False)  # it is laid out all the same
    found = []
    for size in _SIZES:
        for theme in _THEMES:
            person.look_through(theme, size)
            for screen in screens(person.bench):
                person.settle()
                where = f"{size.width()} x {size.height()}, {theme}, {screen}"
                found += [f"{where}: {fault}" for fault in lasting_faults(person)]
    person.window.setUpdatesEnabled(True)
    return found


def lasting_faults(person: Person) -> list[str]:
    """A text that has just changed gets its room a few turns later."""
    for _ in range(_LOOKS):
        found = faults(person.window)
        if not found:
            break
        person.settle()
    return found


def test_the_layout_is_remembered_and_can_be_reset(
    person: Person, arrive: Callable[[Home], Person]
) -> None:
    """Which panels are where comes back at the next start; one command undoes it."""
    left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
    person.command("view.runs_panel")
    person.window.addDockWidget(right, person.window.session_dock)
    person.settle()
    person.leave()

    again = arrive(person.bench.link.home)
    window = again.window
    again.settle()
    assert window.runs_dock.isHidden()
    assert window.dockWidgetArea(window.session_dock) is right

    again.command("view.reset_layout")
    again.settle()
    assert window.runs_dock.isVisible()
    assert window.dockWidgetArea(window.session_dock) is left
    assert window.dockWidgetArea(window.telemetry_dock) is right
    assert faults(window) == []


def test_nothing_is_cut_off_at_scale_two(shared_daemon: DaemonUnderTest) -> None:
    """On a screen of twice the density, where a window of its own is needed to have it."""
    forget_window(shared_daemon.home)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.gym_gui.end_to_end.look_at_scale",
            str(shared_daemon.home.path),
        ],
        env={**os.environ, "QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_MS / 1000,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2.0\n"
