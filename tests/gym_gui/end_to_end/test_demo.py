"""The demo run from the window: an agent that learns, or the echo run where it is not installed."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from gym_gui.app.demo_start import ECHO, INSTALL, NOT_NOW
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from tests.gym_gui.end_to_end.person import LEARNS_MS, Person
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process
BUNDLES = ("spade_bdi_rl_worker",)


def test_the_demo_trains_the_agent_that_the_command_line_trains(person: Person) -> None:
    """It is watched while it learns, with its values and arrows, and is begun once only."""
    person.command("run.demo")
    live = person.models.live
    person.wait(lambda: live.step is not None, LEARNS_MS)
    run = live.run
    assert run is not None
    assert (run.name, run.worker, run.env_id) == ("demo", BUNDLES[0], "FrozenLake-v1")
    assert person.centre.current == "live"
    assert not person.bench.conduct.demo.is_offering
    person.wait(person.bench.commands.actions["view.beliefs"].isEnabled)
    person.wait(lambda: live.policy.arrows and max(live.policy.heat.values()) == 1.0, LEARNS_MS)
    learnt = live.policy.values
    person.wait(lambda: live.policy.values != learnt)
    person.command("run.demo")
    assert [each.name for each in person.models.runs.runs] == ["demo"]
    person.command("run.stop")
    person.wait(partial(_is_cancelled, person))


def _is_cancelled(person: Person) -> bool:
    run = person.models.live.run
    return run is not None and run.state is RunState.CANCELLED


@pytest.fixture
def bare_daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """Its home has no bundle at all."""
    under_test = DaemonUnderTest(tmp_path)
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


def test_without_its_packages_the_window_offers_what_can_be_done(
    bare_daemon: DaemonUnderTest, arrive: Callable[[Home], Person]
) -> None:
    """Nothing is begun before a person has chosen; the echo run is there at once."""
    person = arrive(bare_daemon.home)
    person.wait(lambda: person.bench.link.is_ready)
    demo, banner = person.bench.conduct.demo, person.centre.banner
    person.command("run.demo")
    person.wait(lambda: demo.is_offering)
    assert BUNDLES[0] in banner.message
    person.bench.link.changed.emit()  # the daemon tells how it is, again and again
    assert demo.is_offering
    assert person.button(INSTALL, banner).isEnabled()
    person.click_on(NOT_NOW, banner)
    assert not banner.isVisible()
    assert not person.models.runs.runs

    person.command("run.demo")
    person.wait(lambda: demo.is_offering)
    person.click_on(ECHO, banner)
    person.wait(lambda: person.models.live.step is not None)
    assert not banner.isVisible()
    (run,) = person.models.runs.runs
    assert (run.name, run.env_id) == ("demo", "Echo-v0")
    person.command("run.stop")
    person.wait(partial(_is_cancelled, person))
