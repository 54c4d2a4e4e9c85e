"""Tabs that only some runs open, because their worker says so."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gym_gui.app.lazy_page import LazyPage
from gym_gui.app.screens import FurtherTab
from gym_gui.beliefs.view.beliefs_page import BeliefsPage
from gym_gui.runtime.models.run_tabs import NO_RUN
from mosaic.contract.layout import Home
from tests.gym_gui.end_to_end.person import Person
from tests.gym_gui.thinking_worker import install_thinking_worker, thinking_run
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process
BELIEFS: FurtherTab = "beliefs"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """It knows a worker that names a tab that there is, and one that there is not."""
    under_test = DaemonUnderTest(tmp_path)
    install_thinking_worker(tmp_path / "workers", under_test.home, tabs=("beliefs", "horoscope"))
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


def test_a_tab_comes_and_goes_with_the_run(
    daemon: DaemonUnderTest, arrive: Callable[[Home], Person]
) -> None:
    """It is in sight for a run whose worker names it, in its group, and makes room afterwards."""
    person = arrive(daemon.home)
    person.window.resize(1024, 700)
    bench, centre = person.bench, person.bench.window.centre
    person.wait(lambda: bench.link.is_ready)
    index = centre.tabs.count() - 1
    assert centre.tabs.tabText(index) == "Beliefs"
    assert not centre.tabs.isTabVisible(index)
    other = daemon.submit(steps=20)
    run_id = bench.link.client.submit(thinking_run()).run_id
    person.wait(lambda: bench.models.runs.by_id(run_id) is not None)
    centre.show_tabs()
    bench.conduct.show_run(run_id)
    person.wait(lambda: centre.tabs.isTabVisible(index))
    centre.show_group("analyse")
    assert not centre.tabs.isTabVisible(index)
    centre.show_tab(BELIEFS)
    assert centre.tabs.tabBar().tabRect(0).left() == 0  # no tab is scrolled out of sight
    page = bench.analysis.further_pages[BELIEFS].page
    assert isinstance(page, LazyPage)
    person.wait(lambda: page.is_filled)
    beliefs = page.content
    assert isinstance(beliefs, BeliefsPage)
    person.wait(lambda: beliefs.shows_state)
    beliefs.step_requested.emit(run_id, 1, 2)
    person.wait(lambda: bench.models.replay.step is not None)
    assert not page.isVisible()
    centre.show_tab(BELIEFS)
    bench.conduct.show_run(other)
    person.wait(lambda: not centre.tabs.isTabVisible(index))
    assert centre.current != BELIEFS


def test_a_command_shows_it_by_keys(
    daemon: DaemonUnderTest, arrive: Callable[[Home], Person]
) -> None:
    """Greyed with the reason while no run or another one is shown; between two it stays."""
    person = arrive(daemon.home)
    bench, centre = person.bench, person.centre
    person.wait(lambda: bench.link.is_ready)
    action = bench.commands.actions["view.beliefs"]
    bench.commands.update()
    assert (action.isEnabled(), action.toolTip()) == (False, NO_RUN)
    other = daemon.submit(steps=20)
    runs = [bench.link.client.submit(thinking_run()).run_id for _ in range(2)]
    centre.show_tabs()
    person.choose_run(other)
    bench.commands.update()
    assert not action.isEnabled()
    assert "does not tell what its agent has in mind" in action.toolTip()

    person.choose_run(runs[0])
    person.wait(action.isEnabled)
    QTest.keyClick(person.window, Qt.Key.Key_B, Qt.KeyboardModifier.AltModifier)
    assert (centre.current, action.isChecked()) == (BELIEFS, True)
    tabs_seen: list[str] = []
    centre.tab_changed.connect(tabs_seen.append)
    person.choose_run(runs[1])
    person.wait(lambda: bench.analysis.shown.is_known)
    assert (centre.current, tabs_seen) == (BELIEFS, [])
    person.choose_run(other)
    person.wait(lambda: not action.isEnabled())
    assert centre.current != BELIEFS
