"""LogModel: limit, filters, search and copying."""

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from gym_gui.log.feed import LogFeed
from gym_gui.log.model.log_models import LogModel
from gym_gui.log.model.log_table_model import CODE, MESSAGE, LogFilter, Severity
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import TIMEOUT_MS

_log = logging.getLogger("tests")


@pytest.fixture
def model(tmp_path: Path, ticker: UiTicker) -> Iterator[LogModel]:
    """Without a daemon: it has the lines of this process."""
    feed = LogFeed(TrainerLink(Home(tmp_path)), ticker)
    _log.setLevel(logging.DEBUG)
    yield LogModel(feed, ticker)
    feed.close()


def log_lines(qtbot: QtBot, model: LogModel, *lines: str) -> None:
    """Log lines and wait for them. `!` starts an error, `?` a warning."""
    before = model.stored_count
    for line in lines:
        level = {"!": logging.ERROR, "?": logging.WARNING}.get(line[0], logging.INFO)
        _log.log(level, "%s", line.lstrip("!?"))
    qtbot.waitUntil(lambda: model.stored_count == before + len(lines), timeout=TIMEOUT_MS)


def messages(model: LogModel) -> list[str]:
    return [model.record(row).message for row in range(model.rowCount())]


def test_filters_are_combined_with_the_search(qtbot: QtBot, model: LogModel) -> None:
    """Severity, code and text must all match; case is ignored."""
    tester = QAbstractItemModelTester(model)
    log_lines(
        qtbot, model, "T100 start", "?T101 Slow disk", "!T110 Disk full", "!C300 lost", "plain"
    )
    assert model.data(model.index(0, CODE)) == "T100"
    assert model.data(model.index(1, MESSAGE), Qt.ItemDataRole.ToolTipRole)
    model.set_filter(LogFilter(min_severity=Severity.WARNING))
    assert messages(model) == ["Slow disk", "Disk full", "lost"]
    model.set_filter(LogFilter(min_severity=Severity.ERROR, code="t1"))
    assert messages(model) == ["Disk full"]
    model.set_filter(LogFilter(component="daemon"))
    assert messages(model) == []
    model.set_filter(LogFilter(text="DISK", only_matches=True))
    assert messages(model) == ["Slow disk", "Disk full"]

    model.set_filter(LogFilter(text="disk"))
    assert model.match_count == 2
    assert [model.next_match(row) for row in (-1, 1, 2, 4)] == [1, 2, 1, 1]
    assert [model.previous_match(row) for row in (-1, 4, 2, 1)] == [2, 2, 1, 2]
    assert model.match_number(2) == 2
    log_lines(qtbot, model, "disk again")
    assert model.match_count == 3
    del tester


def test_oldest_lines_are_dropped_and_counted(qtbot: QtBot, model: LogModel) -> None:
    """The model stores at most its limit and names the files with the rest."""
    assert model.max_records == 20_000
    model.max_records = 3_000

    def log_many() -> None:
        for number in range(4_500):
            _log.info("T100 line %d", number)

    thread = threading.Thread(target=log_many)
    thread.start()
    qtbot.waitUntil(lambda: model.total == 4_500, timeout=TIMEOUT_MS)
    thread.join()
    assert model.stored_count <= 3_000
    assert model.rowCount() == model.stored_count
    assert model.dropped_count == 4_500 - model.stored_count
    assert model.record(model.rowCount() - 1).message == "line 4499"
    assert model.dropped_text.startswith(f"{4_500 - model.stored_count:,} older lines are in ")


def test_clear_restore_and_copy_with_context(qtbot: QtBot, model: LogModel) -> None:
    """The context includes filtered lines."""
    log_lines(qtbot, model, *(f"line {number}" for number in range(20)), "!T110 Disk full", "after")
    model.set_filter(LogFilter(min_severity=Severity.ERROR))
    text = model.text_with_context([0])
    assert text.count("\n") == 6
    assert "line 15" in text
    assert "line 14" not in text
    assert "> " in text
    assert text.endswith("after")
    model.set_filter(LogFilter())
    model.clear()
    assert model.rowCount() == 0
    log_lines(qtbot, model, "new")
    assert messages(model) == ["new"]
    assert model.cleared_count == 22
    model.restore()
    assert model.rowCount() == 23
