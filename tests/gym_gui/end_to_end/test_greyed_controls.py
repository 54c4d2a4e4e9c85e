"""The walk over what is greyed: every control that cannot be used now says why."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QMenu

from gym_gui.app.wiring import AppContext
from gym_gui.training.view.training_panel import TrainingPanel
from mosaic.contract.run_states import RunState
from tests.gym_gui.end_to_end.person import Person
from tests.gym_gui.end_to_end.reason_check import ReasonWalk
from tests.gym_gui.end_to_end.screens import (
    each_other_screen,
    each_part_of_the_dock,
    each_view_of_a_run,
)
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

BUNDLES = ("cleanrl_worker",)


def test_every_greyed_control_says_why(person: Person, shared_daemon: DaemonUnderTest) -> None:
    """Without a run, and with one by hand, one that failed, one that goes on, one that is over."""
    walk = ReasonWalk()
    for screens in (each_other_screen, each_part_of_the_dock, each_view_of_a_run):
        look_round(person, walk, "no run", screens)

    person.play("FrozenLake-v1", is_slippery=False)
    by_hand = person.models.play.state.run_id
    person.walk()
    person.command("session.stop")
    person.wait(lambda: not person.models.play.is_on)
    failed = shared_daemon.submit(steps=10, exit_code=3)
    running = shared_daemon.submit(steps=1_000_000, rate=50, episode_length=50)
    over = shared_daemon.submit(steps=200, episode_length=20)
    shared_daemon.until(failed, RunState.FAILED)
    shared_daemon.until(over)
    for state, run_id in (
        ("by hand", by_hand),
        ("failed", failed),
        ("running", running),
        ("over", over),
    ):
        person.choose_run(run_id)
        look_round(person, walk, state, each_view_of_a_run)
    look_round(person, walk, "over", each_other_screen)
    person.choose_run(running)
    person.command("run.stop")
    person.wait(lambda: person.models.runs.running_count == 0)

    assert walk.greyed > 20
    assert not walk.faults(), "\n".join(walk.faults())


def look_round(
    person: Person, walk: ReasonWalk, state: str, screens: Callable[[AppContext], Iterator[str]]
) -> None:
    for screen in screens(person.bench):
        person.settle()
        for dock in person.bench.session_panel.findChildren(TrainingPanel):
            person.wait(lambda dock=dock: not dock.isVisible() or dock.sections.is_finished)  # type: ignore[misc]
        walk.look(f"{state}, {screen}", person.window, *menus_of(person))


def menus_of(person: Person) -> list[QMenu]:
    """Of the window, and of the runs."""
    person.bench.commands.update()
    menus = [action.menu() for action in person.window.menuBar().actions()]
    return [person.bench.runs_view.menu, *(menu for menu in menus if isinstance(menu, QMenu))]
