"""The window's ground for tests: no display, a real daemon, and nothing left behind."""

import os
from collections.abc import Callable, Iterator

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_collection import UiCollection
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.layout import Home
from tests.gym_gui.ui_watch import UiWatch
from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool

PATIENCE_MS = 60_000
"""For what a busy machine may take, and longer than a call may that is then made again; waiting
ends as soon as it has happened."""


@pytest.fixture(autouse=True)
def garbage_is_left_to_the_ui_thread(qapp: QApplication) -> Iterator[None]:  # noqa: ARG001 - order
    """As in the window: what earlier tests have left is not destroyed by a thread of this one."""
    collection = UiCollection()
    yield
    collection.close()


@pytest.fixture(autouse=True)
def ui_thread_is_never_held_up(qapp: QApplication) -> Iterator[None]:  # noqa: ARG001 - order
    """In any scenario: our code never waits on the UI thread, nor computes there until it shows."""
    watch = UiWatch()
    yield
    blocks = watch.stop()
    assert not blocks, "\n".join(blocks)


@pytest.fixture
def theme() -> ThemeModel:
    return ThemeModel()


@pytest.fixture
def notices() -> Notices:
    return Notices()


@pytest.fixture
def tasks(qapp: QApplication) -> Iterator[Tasks]:  # noqa: ARG001 - it needs an event loop
    made = Tasks()
    yield made
    made.close()
    made.join()


@pytest.fixture
def ticker(qapp: QApplication) -> Iterator[UiTicker]:  # noqa: ARG001 - it needs an event loop
    made = UiTicker()
    yield made
    made.close()


@pytest.fixture
def daemon(
    daemon_pool: DaemonPool, give_session_bundle: Callable[[Home], None]
) -> Iterator[DaemonUnderTest]:
    """A daemon that serves, with the bundle that environments are played in."""
    with daemon_pool.daemon(("session_worker",), give_session_bundle) as under_test:
        yield under_test


@pytest.fixture
def link(daemon: DaemonUnderTest, qtbot: QtBot) -> Iterator[TrainerLink]:
    """Connected to the daemon."""
    made = TrainerLink(daemon.home)
    with qtbot.waitSignal(made.connected, timeout=PATIENCE_MS):
        made.open(start=False)
    yield made
    made.close()
    assert made.join(10)
