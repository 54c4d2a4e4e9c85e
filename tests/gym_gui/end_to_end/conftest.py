"""The whole window on a real daemon, as a person has it before them."""

import json
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from mosaic.contract.layout import Home
from tests.gym_gui.end_to_end.person import Person
from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool


@pytest.fixture(scope="module")
def shared_daemon(
    request: pytest.FixtureRequest,
    daemon_pool: DaemonPool,
    give_bundles: Callable[..., None],
) -> Iterator[DaemonUnderTest]:
    """One for all tests of a file that leave it alive. Its runs stay in the list.

    A file that needs more bundles than the one for playing names them in `BUNDLES`, and settings of
    the daemon in `SETTINGS`.
    """
    bundles = ("session_worker", *getattr(request.module, "BUNDLES", ()))
    settings = getattr(request.module, "SETTINGS", {})
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in settings.items()]

    def prepare(home: Home) -> None:
        give_bundles(home, *bundles)
        if lines:
            home.settings.write_text("".join(lines))

    with daemon_pool.daemon((*bundles, *lines), prepare) as under_test:
        yield under_test


@pytest.fixture
def arrive(qapp: QApplication, qtbot: QtBot) -> Iterator[Callable[[Home], Person]]:
    """`arrive(home)` is somebody before a new window; all of them leave when the test is over."""
    people: list[Person] = []

    def arrive_at(home: Home) -> Person:
        people.append(Person(home, qapp, qtbot))
        return people[-1]

    yield arrive_at
    for person in people:
        person.leave()
    assert [timer for person in people for timer in person.timers_left] == []


@pytest.fixture
def person(shared_daemon: DaemonUnderTest, arrive: Callable[[Home], Person]) -> Person:
    """Somebody before a window that is open and connected, as at the very first start."""
    forget_window(shared_daemon.home)
    made = arrive(shared_daemon.home)
    made.wait(lambda: made.bench.link.is_ready)
    return made


def forget_window(home: Home) -> None:
    """What the windows of earlier tests remembered."""
    (home.path / "window.ini").unlink(missing_ok=True)
