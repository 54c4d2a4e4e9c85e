"""The log as a table: batches, a bound, filters, search and copying."""

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from gym_gui.log.feed import LogFeed
from gym_gui.log.model import log_model
from gym_gui.log.model.log_filter import LogFilter, Severity
from gym_gui.log.model.log_model import CODE, MESSAGE, LogModel
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS

_log = logging.getLogger("tests")


@pytest.fixture
def model(tmp_path: Path, ticker: UiTicker) -> Iterator[LogModel]:
    """Without a daemon: what this process says is enough."""
    feed = LogFeed(TrainerLink(Home(tmp_path)), ticker)
    _log.setLevel(logging.DEBUG)
    yield LogModel(feed, ticker)
    feed.close()


def say(qtbot: QtBot, model: LogModel, *lines: str) -> None:
    """Lines that begin with `!` are errors, with `?` warnings."""
    there = model.total
    for line in lines:
        level = {"!": logging.ERROR, "?": logging.WARNING}.get(line[0], logging.INFO)
        _log.log(level, "%s", line.lstrip("!?"))
    qtbot.waitUntil(lambda: model.total == there + len(lines), timeout=PATIENCE_MS)


def shown(model: LogModel) -> list[str]:
    return [model.record(row).message for row in range(model.rowCount())]


def test_filters_combine_and_searches_find(qtbot: QtBot, model: LogModel) -> None:
    """Severity, code and text hold together, whatever the case of letters."""
    tester = QAbstractItemModelTester(model)
    say(qtbot, model, "T100 begin", "?T101 Slow disk", "!T110 Disk full", "!C300 lost", "plain")
    assert model.data(model.index(0, CODE)) == "T100"
    assert model.data(model.index(1, MESSAGE), Qt.ItemDataRole.ToolTipRole)
    model.show_only(LogFilter(at_least=Severity.WARNING))
    assert shown(model) == ["Slow disk", "Disk full", "lost"]
    model.show_only(LogFilter(at_least=Severity.ERROR, code="t1"))
    assert shown(model) == ["Disk full"]
    model.show_only(LogFilter(component="daemon"))
    assert shown(model) == []
    model.show_only(LogFilter(text="DISK", only_found=True))
    assert shown(model) == ["Slow disk", "Disk full"]

    model.show_only(LogFilter(text="disk"))
    assert model.found_count == 2
    assert [model.next_found(row) for row in (-1, 1, 2, 4)] == [1, 2, 1, 1]
    assert [model.previous_found(row) for row in (-1, 4, 2, 1)] == [2, 2, 1, 2]
    assert model.found_number(2) == 2
    say(qtbot, model, "disk again")
    assert model.found_count == 3
    del tester


def test_old_lines_go_and_are_counted(
    qtbot: QtBot, model: LogModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model never holds more than its bound, and says where the rest is."""
    assert log_model.MOST_RECORDS == 20_000
    monkeypatch.setattr(log_model, "MOST_RECORDS", 3_000)

    def talk() -> None:
        for at in range(4_500):
            _log.info("T100 line %d", at)

    talker = threading.Thread(target=talk)
    talker.start()
    qtbot.waitUntil(lambda: model.total + model.dropped_count == 4_500, timeout=PATIENCE_MS)
    talker.join()
    assert model.total <= 3_000
    assert model.rowCount() == model.total
    assert model.record(model.rowCount() - 1).message == "line 4499"
    assert model.dropped_text.startswith(f"{4_500 - model.total:,} older lines are in ")


def test_clearing_hides_and_copying_brings_context(qtbot: QtBot, model: LogModel) -> None:
    """What is cleared can be shown again; context includes what the filter hides."""
    say(qtbot, model, *(f"line {at}" for at in range(20)), "!T110 Disk full", "after")
    model.show_only(LogFilter(at_least=Severity.ERROR))
    text = model.text_with_context([0])
    assert text.count("\n") == 6
    assert "line 15" in text
    assert "line 14" not in text
    assert "> " in text
    assert text.endswith("after")
    model.show_only(LogFilter())
    model.clear()
    assert model.rowCount() == 0
    say(qtbot, model, "new")
    assert shown(model) == ["new"]
    assert model.hidden_by_clearing == 22
    model.restore()
    assert model.rowCount() == 23
