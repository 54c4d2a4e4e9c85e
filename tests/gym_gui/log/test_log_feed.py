"""The feed brings three logs together, from a real daemon and this process."""

import logging

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gym_gui.log.feed import LogFeed
from gym_gui.runtime.log_records import LogRecord
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


def test_daemon_run_and_window_in_one(
    daemon: DaemonUnderTest, link: TrainerLink, ticker: UiTicker, qtbot: QtBot, qapp: QApplication
) -> None:
    """Lines of the daemon, of the chosen run and of Python's logging come with their names."""
    run_id = daemon.submit(steps=10)
    daemon.until(run_id)
    with daemon.run(run_id).worker_log.open("a") as log:
        log.write("W777 said by the worker\n")
    run = link.client.run(run_id).run
    qapp.processEvents()  # the test has waited, not the window
    feed = LogFeed(link, ticker)
    feed.show_run(run)
    logging.getLogger("tests").warning("C999 said by the window")
    records: list[LogRecord] = []

    def all_there() -> bool:
        records.extend(feed.drain())
        return {"T395", "W777", "C999"} <= {record.code for record in records}

    qtbot.waitUntil(all_there, timeout=PATIENCE_MS)
    by_code = {record.code: record for record in records}
    assert by_code["T395"].component == "daemon"
    assert by_code["C999"].component == "window"
    said = by_code["W777"]
    assert said.component == f"echo_worker {run_id[-8:]}"
    assert said.run_id == run_id
    assert feed.meanings["T395"]

    feed.close()
    qtbot.waitUntil(lambda: not feed.threads, timeout=PATIENCE_MS)
    logging.getLogger("tests").warning("C998 said after the end")
    assert all(record.code != "C998" for record in feed.drain())
