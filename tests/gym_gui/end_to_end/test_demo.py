"""The demo run from the window: a training run, or the echo run without its packages."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from gym_gui.app.demo_start import ECHO, INSTALL, NOT_NOW
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from tests.gym_gui.end_to_end.window_driver import TRAINING_TIMEOUT_MS, WindowDriver
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process
BUNDLES = ("spade_bdi_rl_worker",)


def test_the_demo_run_is_started_once(driver: WindowDriver) -> None:
    """The live tab shows its values and policy; a second command does not start another run."""
    driver.command("run.demo")
    live = driver.models.live
    driver.wait(lambda: live.step is not None, TRAINING_TIMEOUT_MS)
    run = live.run
    assert run is not None
    assert (run.name, run.worker, run.env_id) == ("demo", BUNDLES[0], "FrozenLake-v1")
    assert driver.centre.current == "live"
    assert not driver.context.navigation.demo.is_offering
    driver.wait(driver.context.commands.actions["view.beliefs"].isEnabled)
    driver.wait(
        lambda: live.policy.arrows and max(live.policy.heat.values()) == 1.0, TRAINING_TIMEOUT_MS
    )
    before = live.policy.values
    driver.wait(lambda: live.policy.values != before)
    driver.command("run.demo")
    assert [run.name for run in driver.models.runs.runs] == ["demo"]
    driver.command("run.stop")
    driver.wait(partial(_is_cancelled, driver))


def _is_cancelled(driver: WindowDriver) -> bool:
    run = driver.models.live.run
    return run is not None and run.state is RunState.CANCELLED


@pytest.fixture
def bare_daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """A daemon whose home has no bundles."""
    under_test = DaemonUnderTest(tmp_path)
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


def test_missing_packages_can_be_installed_or_skipped(
    bare_daemon: DaemonUnderTest, open_window: Callable[[Home], WindowDriver]
) -> None:
    """No run starts before the user decides; the echo run needs no packages."""
    driver = open_window(bare_daemon.home)
    driver.wait(lambda: driver.context.link.is_ready)
    demo, banner = driver.context.navigation.demo, driver.centre.banner
    driver.command("run.demo")
    driver.wait(lambda: demo.is_offering)
    assert BUNDLES[0] in banner.message
    driver.context.link.changed.emit()  # an update of the link must not clear the offer
    assert demo.is_offering
    assert driver.button(INSTALL, banner).isEnabled()
    driver.click_on(NOT_NOW, banner)
    assert not banner.isVisible()
    assert not driver.models.runs.runs

    driver.command("run.demo")
    driver.wait(lambda: demo.is_offering)
    driver.click_on(ECHO, banner)
    driver.wait(lambda: driver.models.live.step is not None)
    assert not banner.isVisible()
    (run,) = driver.models.runs.runs
    assert (run.name, run.env_id) == ("demo", "Echo-v0")
    driver.command("run.stop")
    driver.wait(partial(_is_cancelled, driver))
