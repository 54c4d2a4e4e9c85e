"""The accessibility walk: every control has a name, and the keyboard comes to all of them."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QWidget

from tests.gym_gui.end_to_end.access_check import nameless, out_of_reach
from tests.gym_gui.end_to_end.person import Person
from tests.gym_gui.end_to_end.screens import each_other_screen, each_played_view

pytestmark = pytest.mark.process


def test_every_control_is_named_and_within_reach(person: Person) -> None:
    """On every screen, with runs, steps and a replay to show."""
    run_id = person.play("FrozenLake-v1", is_slippery=False)
    person.walk()
    found = faults_on_played_views(person)
    person.models.session_panel.stop()
    person.wait(lambda: not person.models.play.is_on)
    person.bench.conduct.replay(run_id, 0)
    person.wait(lambda: person.models.replay.state.is_checked)
    for screen in each_other_screen(person.bench):
        found += faults_on(person, screen, nameless)
        found += faults_on(person, screen, out_of_reach)
    assert not found, "\n".join(sorted(set(found)))


def faults_on_played_views(person: Person) -> list[str]:
    """While one plays, the walk would be caught by the game now and then: Tab is for leaving it."""
    found = []
    for screen in each_played_view(person.bench):
        found += faults_on(person, screen, nameless)
    return found


def faults_on(person: Person, screen: str, check: Callable[[QWidget], Iterator[str]]) -> list[str]:
    person.settle()
    return [f"{screen}: {fault}" for fault in check(person.window)]
