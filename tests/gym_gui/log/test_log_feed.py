"""LogFeed merges the logs of the daemon, a run and this process."""

import logging

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gym_gui.log.feed import LogFeed
from gym_gui.runtime.log_records import LogRecord
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


def test_feed_merges_daemon_run_and_window(
    daemon: DaemonUnderTest, link: TrainerLink, ticker: UiTicker, qtbot: QtBot, qapp: QApplication
) -> None:
    """Each line has the component it came from."""
    run_id = daemon.submit(steps=10)
    daemon.until(run_id)
    with daemon.run(run_id).worker_log.open("a") as log:
        log.write("W777 from the worker\n")
    run = link.client.run(run_id).run
    qapp.processEvents()  # the event loop did not run while the test waited
    feed = LogFeed(link, ticker)
    feed.show_run(run)
    logging.getLogger("tests").warning("C999 from the window")
    records: list[LogRecord] = []

    def has_all_codes() -> bool:
        records.extend(feed.drain())
        return {"T395", "W777", "C999"} <= {record.code for record in records}

    qtbot.waitUntil(has_all_codes, timeout=TIMEOUT_MS)
    by_code = {record.code: record for record in records}
    assert by_code["T395"].component == "daemon"
    assert by_code["C999"].component == "window"
    line = by_code["W777"]
    assert line.component == f"echo_worker {run_id[-8:]}"
    assert line.run_id == run_id
    assert feed.meanings["T395"]

    feed.close()
    qtbot.waitUntil(lambda: not feed.threads, timeout=TIMEOUT_MS)
    logging.getLogger("tests").warning("C998 after close")
    assert all(record.code != "C998" for record in feed.drain())
