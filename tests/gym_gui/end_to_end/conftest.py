"""The whole window on a real daemon, as a person has it before them."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from mosaic.contract.layout import Home
from tests.gym_gui.end_to_end.person import Person
from tests.trainer.conftest import DaemonUnderTest


@pytest.fixture(scope="module")
def shared_daemon(
    tmp_path_factory: pytest.TempPathFactory, give_session_bundle: Callable[[Home], None]
) -> Iterator[DaemonUnderTest]:
    """One for all tests of a file that leave it alive. Its runs stay in the list."""
    under_test = DaemonUnderTest(tmp_path_factory.mktemp("shared"))
    give_session_bundle(under_test.home)
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


@pytest.fixture
def person(shared_daemon: DaemonUnderTest, qapp: QApplication, qtbot: QtBot) -> Iterator[Person]:
    """Somebody before a window that is open and connected, as at the very first start."""
    forget_window(shared_daemon.home)
    made = Person(shared_daemon.home, qapp, qtbot)
    made.wait(lambda: made.bench.link.is_ready)
    yield made
    made.leave()
    assert made.timers_left == []


def forget_window(home: Home) -> None:
    """What the windows of earlier tests remembered."""
    (home.path / "window.ini").unlink(missing_ok=True)
