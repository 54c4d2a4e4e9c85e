"""Accessibility: every control has a name and can be reached with the keyboard."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QWidget

from tests.gym_gui.end_to_end.access_check import find_unnamed, find_unreachable
from tests.gym_gui.end_to_end.screens import other_screens, session_screens
from tests.gym_gui.end_to_end.window_driver import WindowDriver

pytestmark = pytest.mark.process


def test_every_control_is_named_and_reachable(driver: WindowDriver) -> None:
    """On every screen, with runs, steps and a replay to show."""
    run_id = driver.play("FrozenLake-v1", is_slippery=False)
    driver.walk()
    faults = faults_on_session_screens(driver)
    driver.models.session_panel.stop()
    driver.wait(lambda: not driver.models.play.is_on)
    driver.context.navigation.replay(run_id, 0)
    driver.wait(lambda: driver.models.replay.state.is_checked)
    for screen in other_screens(driver.context):
        faults += faults_on(driver, screen, find_unnamed)
        faults += faults_on(driver, screen, find_unreachable)
    assert not faults, "\n".join(sorted(set(faults)))


def faults_on_session_screens(driver: WindowDriver) -> list[str]:
    """Names only: during a session, the environment uses the Tab key."""
    faults = []
    for screen in session_screens(driver.context):
        faults += faults_on(driver, screen, find_unnamed)
    return faults


def faults_on(
    driver: WindowDriver, screen: str, check: Callable[[QWidget], Iterator[str]]
) -> list[str]:
    driver.wait_idle()
    return [f"{screen}: {fault}" for fault in check(driver.window)]
