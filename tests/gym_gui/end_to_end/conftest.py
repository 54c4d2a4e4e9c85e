"""Fixtures for tests of the complete window with a real daemon."""

import json
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from mosaic.contract.layout import Home
from tests.gym_gui.end_to_end.window_driver import WindowDriver
from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool


@pytest.fixture(scope="module")
def shared_daemon(
    request: pytest.FixtureRequest,
    daemon_pool: DaemonPool,
    give_bundles: Callable[..., None],
) -> Iterator[DaemonUnderTest]:
    """One daemon for all tests of a module that do not stop it.

    A module lists further bundles in `BUNDLES` and daemon settings in `SETTINGS`.
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
def open_window(qapp: QApplication, qtbot: QtBot) -> Iterator[Callable[[Home], WindowDriver]]:
    """`open_window(home)` opens a window, which is closed after the test."""
    drivers: list[WindowDriver] = []

    def open_at(home: Home) -> WindowDriver:
        drivers.append(WindowDriver(home, qapp, qtbot))
        return drivers[-1]

    yield open_at
    for driver in drivers:
        driver.close()
    assert [timer for driver in drivers for timer in driver.active_timers] == []


@pytest.fixture
def driver(
    shared_daemon: DaemonUnderTest, open_window: Callable[[Home], WindowDriver]
) -> WindowDriver:
    """An open and connected window with default settings."""
    reset_window_settings(shared_daemon.home)
    window = open_window(shared_daemon.home)
    window.wait(lambda: window.context.link.is_ready)
    return window


def reset_window_settings(home: Home) -> None:
    """Delete the settings that windows of earlier tests have saved."""
    (home.path / "window.ini").unlink(missing_ok=True)
