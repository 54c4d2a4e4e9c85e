"""The window without its daemon: killed during a live view, missing at start; two windows."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton

from gym_gui.runtime.trainer_link import LinkState
from gym_gui.shell.view.status_strip import StatusStrip
from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from tests.gym_gui.end_to_end.window_driver import WindowDriver
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_STEPS = 30_000
_RATE = 3_000


def daemon_button(driver: WindowDriver) -> QPushButton:
    """The button in the status bar with the state of the daemon."""
    strip = driver.window.findChild(StatusStrip)
    assert isinstance(strip, StatusStrip)
    button = strip.findChild(QPushButton)
    assert isinstance(button, QPushButton)
    return button


def test_a_live_view_resumes_after_the_daemon_was_killed(
    daemon: DaemonUnderTest, open_window: Callable[[Home], WindowDriver]
) -> None:
    """It reports the lost daemon, resumes after its restart, and misses no step."""
    driver = open_window(daemon.home)
    live, button = driver.models.live, daemon_button(driver)
    driver.wait(lambda: driver.context.link.is_ready)
    run_id = daemon.submit(steps=_STEPS, rate=_RATE, episode_length=50)
    driver.wait(lambda: driver.models.runs.by_id(run_id) is not None)
    driver.context.navigation.watch(run_id)
    driver.wait(lambda: live.step is not None and live.episodes.rowCount() > 0)

    daemon.kill()
    driver.wait(lambda: "lost" in button.text())
    assert driver.context.link.state is LinkState.LOST
    before = live.step
    daemon.restart()

    driver.wait(lambda: driver.context.link.is_ready and "lost" not in button.text())
    driver.wait(lambda: live.step is not before)
    assert "Reconnected to the daemon." in driver.notices
    assert daemon.until(run_id).state == RunState.SUCCEEDED
    driver.wait(lambda: live.run is not None and live.run.state.is_final)
    record = driver.models.runs.by_id(run_id)
    assert record is not None
    assert (record.digest.steps, record.digest.episodes) == (_STEPS, _STEPS // 50)
    driver.wait(lambda: live.episodes.rowCount() == _STEPS // 50)
    with TrainerClient.connect(daemon.home, start=False) as client:
        last = client.episode_steps(run_id, _STEPS // 50 - 1)
    assert [step.step for step in last] == list(range(50))


def test_two_windows_show_the_same_runs(
    daemon: DaemonUnderTest, open_window: Callable[[Home], WindowDriver]
) -> None:
    """A run that one window starts is listed in both, while it runs and afterwards."""
    one, other = open_window(daemon.home), open_window(daemon.home)
    for driver in (one, other):
        driver.wait(partial(_is_ready, driver))
    one.context.navigation.demo.start_echo()
    one.wait(lambda: one.models.live.run_id)
    run_id = one.models.live.run_id
    other.wait(lambda: other.models.runs.by_id(run_id) is not None)
    other.context.runs_view.select(run_id)
    other.wait(lambda: other.models.live.run_id == run_id and other.models.live.step is not None)

    other.command("run.stop")
    for driver in (one, other):
        driver.wait(partial(_is_cancelled, driver, run_id))
    assert len(one.models.runs.runs) == len(other.models.runs.runs) == 1


def test_the_window_can_start_a_daemon(
    empty_home: Home, open_window: Callable[[Home], WindowDriver]
) -> None:
    """It opens without a daemon; a click in the status bar starts one."""
    driver = open_window(empty_home)
    button = daemon_button(driver)
    driver.wait(lambda: driver.context.link.state is LinkState.FAILED)
    assert driver.window.isVisible()
    assert button.text() == "No daemon, click to start"
    assert button.toolTip()

    driver.click(button)

    driver.wait(lambda: driver.context.link.is_ready)
    assert button.text() == "Daemon running"
    assert driver.context.link.has_client


def _is_ready(driver: WindowDriver) -> bool:
    return driver.context.link.is_ready


def _is_cancelled(driver: WindowDriver, run_id: str) -> bool:
    run = driver.models.runs.by_id(run_id)
    return run is not None and run.state is RunState.CANCELLED


@pytest.fixture
def empty_home(tmp_path: Path) -> Iterator[Home]:
    """A new home; a daemon that a window starts in it is stopped afterwards."""
    under_test = DaemonUnderTest(tmp_path)
    yield under_test.home
    under_test.clean_up()
