"""Tabs that a worker's descriptor opens for its runs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gym_gui.app.lazy_page import LazyPage
from gym_gui.app.screens import WorkerTab
from gym_gui.beliefs.view.beliefs_page import BeliefsPage
from gym_gui.runtime.models.run_tabs import NO_RUN
from mosaic.contract.layout import Home
from tests.gym_gui.bdi_worker import bdi_run_config, install_bdi_worker
from tests.gym_gui.end_to_end.window_driver import WindowDriver
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process
BELIEFS: WorkerTab = "beliefs"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """A daemon with a worker that names an existing and an unknown tab."""
    under_test = DaemonUnderTest(tmp_path)
    install_bdi_worker(tmp_path / "workers", under_test.home, tabs=("beliefs", "prompts"))
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


def test_a_worker_tab_follows_the_selected_run(
    daemon: DaemonUnderTest, open_window: Callable[[Home], WindowDriver]
) -> None:
    """It is visible in its group for a run whose worker names it, and hidden for others."""
    driver = open_window(daemon.home)
    driver.window.resize(1024, 700)
    context, centre = driver.context, driver.context.window.centre
    driver.wait(lambda: context.link.is_ready)
    index = centre.tabs.count() - 1
    assert centre.tabs.tabText(index) == "Beliefs"
    assert not centre.tabs.isTabVisible(index)
    other = daemon.submit(steps=20)
    run_id = context.link.client.submit(bdi_run_config()).run_id
    driver.wait(lambda: context.models.runs.by_id(run_id) is not None)
    centre.show_tabs()
    context.navigation.show_run(run_id)
    driver.wait(lambda: centre.tabs.isTabVisible(index))
    centre.show_group("analyse")
    assert not centre.tabs.isTabVisible(index)
    centre.show_tab(BELIEFS)
    assert centre.tabs.tabBar().tabRect(0).left() == 0  # the tab bar is not scrolled
    page = context.analysis.worker_pages[BELIEFS].page
    assert isinstance(page, LazyPage)
    driver.wait(lambda: page.is_displayed)
    beliefs = page.content
    assert isinstance(beliefs, BeliefsPage)
    driver.wait(lambda: beliefs.shows_state)
    beliefs.step_requested.emit(run_id, 1, 2)
    driver.wait(lambda: context.models.replay.step is not None)
    assert not page.isVisible()
    centre.show_tab(BELIEFS)
    context.navigation.show_run(other)
    driver.wait(lambda: not centre.tabs.isTabVisible(index))
    assert centre.current != BELIEFS


def test_the_command_of_a_worker_tab(
    daemon: DaemonUnderTest, open_window: Callable[[Home], WindowDriver]
) -> None:
    """Disabled with a reason for other runs; the tab stays current between two such runs."""
    driver = open_window(daemon.home)
    context, centre = driver.context, driver.centre
    driver.wait(lambda: context.link.is_ready)
    action = context.commands.actions["view.beliefs"]
    context.commands.update()
    assert (action.isEnabled(), action.toolTip()) == (False, NO_RUN)
    other = daemon.submit(steps=20)
    runs = [context.link.client.submit(bdi_run_config()).run_id for _ in range(2)]
    centre.show_tabs()
    driver.select_run(other)
    context.commands.update()
    assert not action.isEnabled()
    assert "does not report beliefs" in action.toolTip()

    driver.select_run(runs[0])
    driver.wait(action.isEnabled)
    QTest.keyClick(driver.window, Qt.Key.Key_B, Qt.KeyboardModifier.AltModifier)
    assert (centre.current, action.isChecked()) == (BELIEFS, True)
    changed_tabs: list[str] = []
    centre.tab_changed.connect(changed_tabs.append)
    driver.select_run(runs[1])
    driver.wait(lambda: context.analysis.selected_run.is_known)
    assert (centre.current, changed_tabs) == (BELIEFS, [])
    driver.select_run(other)
    driver.wait(lambda: not action.isEnabled())
    assert centre.current != BELIEFS
