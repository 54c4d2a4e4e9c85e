"""Every disabled control has a reason in its tooltip."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QMenu

from gym_gui.app.wiring import AppContext
from gym_gui.training.view.training_panel import TrainingPanel
from mosaic.contract.run_states import RunState
from tests.gym_gui.end_to_end.reason_check import DisabledReasonCheck
from tests.gym_gui.end_to_end.screens import (
    dock_screens,
    other_screens,
    run_screens,
)
from tests.gym_gui.end_to_end.window_driver import WindowDriver
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

BUNDLES = ("cleanrl_worker",)


def test_every_disabled_control_has_a_reason(
    driver: WindowDriver, shared_daemon: DaemonUnderTest
) -> None:
    """Without a run, and with a played, a failed, a running and a finished run."""
    check = DisabledReasonCheck()
    for screens in (other_screens, dock_screens, run_screens):
        inspect_screens(driver, check, "no run", screens)

    driver.play("FrozenLake-v1", is_slippery=False)
    played = driver.models.play.state.run_id
    driver.walk()
    driver.command("session.stop")
    driver.wait(lambda: not driver.models.play.is_on)
    failed = shared_daemon.submit(steps=10, exit_code=3)
    running = shared_daemon.submit(steps=1_000_000, rate=50, episode_length=50)
    finished = shared_daemon.submit(steps=200, episode_length=20)
    shared_daemon.until(failed, RunState.FAILED)
    shared_daemon.until(finished)
    for state, run_id in (
        ("played", played),
        ("failed", failed),
        ("running", running),
        ("finished", finished),
    ):
        driver.select_run(run_id)
        inspect_screens(driver, check, state, run_screens)
    inspect_screens(driver, check, "finished", other_screens)
    driver.select_run(running)
    driver.command("run.stop")
    driver.wait(lambda: driver.models.runs.running_count == 0)

    assert check.disabled_count > 20
    assert not check.faults(), "\n".join(check.faults())


def inspect_screens(
    driver: WindowDriver,
    check: DisabledReasonCheck,
    state: str,
    screens: Callable[[AppContext], Iterator[str]],
) -> None:
    for screen in screens(driver.context):
        driver.wait_idle()
        for dock in driver.context.session_panel.findChildren(TrainingPanel):
            driver.wait(lambda dock=dock: not dock.isVisible() or dock.sections.is_finished)  # type: ignore[misc]
        check.inspect(f"{state}, {screen}", driver.window, *menus_of(driver))


def menus_of(driver: WindowDriver) -> list[QMenu]:
    """The menus of the window and of the list of runs."""
    driver.context.commands.update()
    menus = [action.menu() for action in driver.window.menuBar().actions()]
    return [driver.context.runs_view.menu, *(menu for menu in menus if isinstance(menu, QMenu))]
