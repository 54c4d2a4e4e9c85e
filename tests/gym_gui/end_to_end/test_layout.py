"""The layout of the window in all sizes and both themes; saved and restored."""

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
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.gym_gui.end_to_end.conftest import reset_window_settings
from tests.gym_gui.end_to_end.layout_check import find_faults
from tests.gym_gui.end_to_end.screens import other_screens, session_screens
from tests.gym_gui.end_to_end.window_driver import WindowDriver
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_SIZES = (QSize(1024, 700), QSize(1440, 900), QSize(3840, 2160))
_MAX_CHECKS = 5
_THEMES: tuple[ThemeChoice, ...] = ("light", "dark")


@pytest.mark.long
def test_nothing_is_clipped(driver: WindowDriver) -> None:
    """In every view, with a session and a replay in it, at three sizes and in both themes."""
    run_id = driver.play("FrozenLake-v1", is_slippery=False)
    driver.walk()
    driver.context.navigation.replay(run_id, 0)
    replay = driver.models.replay
    driver.wait(lambda: replay.state.is_checked)
    replay.seek(3)
    driver.wait(lambda: replay.step is not None)
    faults = faults_in_all_sizes(driver, session_screens)
    driver.press(Qt.Key.Key_Return)
    driver.models.session_panel.stop()
    driver.wait(lambda: not driver.models.play.is_on)
    faults += faults_in_all_sizes(driver, other_screens)
    assert not faults, "\n".join(dict.fromkeys(faults))


def faults_in_all_sizes(
    driver: WindowDriver, screens: Callable[[AppContext], Iterator[str]]
) -> list[str]:
    driver.window.setUpdatesEnabled(False)  # the layout is still computed
    faults = []
    for size in _SIZES:
        for theme in _THEMES:
            driver.set_theme_and_size(theme, size)
            for screen in screens(driver.context):
                driver.wait_idle()
                where = f"{size.width()} x {size.height()}, {theme}, {screen}"
                faults += [f"{where}: {fault}" for fault in lasting_faults(driver)]
    driver.window.setUpdatesEnabled(True)
    return faults


def lasting_faults(driver: WindowDriver) -> list[str]:
    """Faults that remain after several iterations of the event loop."""
    for _ in range(_MAX_CHECKS):
        faults = find_faults(driver.window)
        if not faults:
            break
        driver.wait_idle()
    return faults


def test_the_layout_is_saved_and_can_be_reset(
    driver: WindowDriver, open_window: Callable[[Home], WindowDriver]
) -> None:
    """A new window restores the docks; a command resets them."""
    left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
    driver.command("view.runs_panel")
    driver.window.addDockWidget(right, driver.window.session_dock)
    driver.wait_idle()
    driver.close()

    restored = open_window(driver.context.link.home)
    window = restored.window
    restored.wait_idle()
    assert window.runs_dock.isHidden()
    assert window.dockWidgetArea(window.session_dock) is right

    restored.command("view.reset_layout")
    restored.wait_idle()
    assert window.runs_dock.isVisible()
    assert window.dockWidgetArea(window.session_dock) is left
    assert window.dockWidgetArea(window.telemetry_dock) is right
    assert find_faults(window) == []


def test_nothing_is_clipped_at_scale_two(shared_daemon: DaemonUnderTest) -> None:
    """In a separate process with QT_SCALE_FACTOR=2."""
    reset_window_settings(shared_daemon.home)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.gym_gui.end_to_end.scaled_layout",
            str(shared_daemon.home.path),
        ],
        env={**os.environ, "QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_MS / 1000,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2.0\n"
