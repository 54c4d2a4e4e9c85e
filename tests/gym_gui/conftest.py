"""Fixtures for tests of the window: offscreen Qt, a real daemon, services."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_collection import UiCollection
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.layout import Home
from tests.gym_gui.memory_settings import MemorySettings
from tests.gym_gui.ui_thread_monitor import UiThreadMonitor
from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool

TIMEOUT_MS = 60_000
"""For conditions on a busy machine; longer than the timeout of a call that is retried."""


@pytest.fixture(autouse=True)
def collect_on_ui_thread(qapp: QApplication) -> Iterator[None]:  # noqa: ARG001 - order
    """As in the window: garbage of earlier tests is not destroyed by a thread of this one."""
    collection = UiCollection()
    yield
    collection.close()


@pytest.fixture(autouse=True)
def ui_thread_is_never_blocked(qapp: QApplication) -> Iterator[None]:  # noqa: ARG001 - order
    """Fail a test in which our code waits or computes too long on the UI thread."""
    monitor = UiThreadMonitor()
    yield
    blocks = monitor.stop()
    assert not blocks, "\n".join(blocks)


@pytest.fixture
def theme() -> ThemeModel:
    return ThemeModel()


@pytest.fixture
def notices() -> Notices:
    return Notices()


@pytest.fixture
def tasks(qapp: QApplication) -> Iterator[Tasks]:  # noqa: ARG001 - needs an event loop
    tasks = Tasks()
    yield tasks
    tasks.close()
    tasks.join()


@pytest.fixture
def ticker(qapp: QApplication) -> Iterator[UiTicker]:  # noqa: ARG001 - needs an event loop
    ticker = UiTicker()
    yield ticker
    ticker.close()


@pytest.fixture
def daemon(
    daemon_pool: DaemonPool, give_session_bundle: Callable[[Home], None]
) -> Iterator[DaemonUnderTest]:
    """A running daemon, with the bundle of the session worker."""
    with daemon_pool.daemon(("session_worker",), give_session_bundle) as under_test:
        yield under_test


@pytest.fixture
def link(daemon: DaemonUnderTest, qtbot: QtBot) -> Iterator[TrainerLink]:
    """A link that is connected to the daemon."""
    link = TrainerLink(daemon.home)
    with qtbot.waitSignal(link.connected, timeout=TIMEOUT_MS):
        link.open(start=False)
    yield link
    link.close()
    assert link.join(10)


@pytest.fixture
def settings() -> MemorySettings:
    return MemorySettings()


@pytest.fixture
def services(
    link: TrainerLink,
    tasks: Tasks,
    ticker: UiTicker,
    notices: Notices,
    settings: MemorySettings,
) -> Services:
    return Services(link, tasks, ticker, notices, settings)


@pytest.fixture
def offline_services(
    tmp_path: Path, tasks: Tasks, ticker: UiTicker, notices: Notices, settings: MemorySettings
) -> Services:
    """With a link that is not opened, and no daemon."""
    return Services(TrainerLink(Home(tmp_path / "home")), tasks, ticker, notices, settings)
