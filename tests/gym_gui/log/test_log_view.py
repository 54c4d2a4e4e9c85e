"""The Log tab: it follows the end, finds, explains and copies."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gym_gui.log.feed import LogFeed
from gym_gui.log.model.log_model import LogModel
from gym_gui.log.view.log_view import LogView
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS

_log = logging.getLogger("tests")

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
"""Which the platform without a display does not know."""


@pytest.fixture
def model(tmp_path: Path, ticker: UiTicker) -> Iterator[LogModel]:
    """Without a daemon: what this process says is enough."""
    feed = LogFeed(TrainerLink(Home(tmp_path)), ticker)
    _log.setLevel(logging.INFO)
    yield LogModel(feed, ticker)
    feed.close()


@pytest.fixture
def view(model: LogModel, theme: ThemeModel, qtbot: QtBot) -> LogView:
    made = LogView(model, theme)
    qtbot.addWidget(made)
    made.resize(900, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


def say(qtbot: QtBot, model: LogModel, count: int, text: str) -> None:
    there = model.total
    for at in range(count):
        _log.warning("T100 %s %d", text, at)
    qtbot.waitUntil(lambda: model.total == there + count, timeout=PATIENCE_MS)


def test_it_follows_the_end_until_somebody_looks_back(
    view: LogView, model: LogModel, qtbot: QtBot
) -> None:
    """Scrolling up stops it, and its button brings it back to the newest line."""
    say(qtbot, model, 200, "first")
    bar = view._table.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    view._table.setFocus()
    QTest.keyClick(view._table, Qt.Key.Key_PageUp)
    assert not view._follow.isChecked()
    place = bar.value()
    say(qtbot, model, 50, "second")
    assert bar.value() == place
    view._follow.click()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum())
    assert view._table.is_following


def test_a_search_leads_to_its_finds_and_copies_them(
    view: LogView, model: LogModel, qtbot: QtBot
) -> None:
    """Enter goes from find to find, the details show the line, the clipboard gets its context."""
    say(qtbot, model, 30, "needle")
    search = view._filters._search
    QTest.keyClicks(search, "NEEDLE 1")
    assert view._filters._count.text() == "11 found"
    QTest.keyClick(search, Qt.Key.Key_Return)
    assert view._filters._count.text() == "1 of 11"
    QTest.keyClick(search, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert view._filters._count.text() == "11 of 11"
    assert view._details.isVisible()
    assert "T100 needle 19" in view._details._text.toPlainText()
    view.copy_with_context()
    copied = QGuiApplication.clipboard().text()
    assert "needle 14" in copied
    assert "needle 24" in copied
    assert "needle 25" not in copied
    QTest.keyClick(view._table, Qt.Key.Key_Escape)
    assert not view._details.isVisible()


def test_a_filter_that_hides_all_says_so_and_offers_a_way_back(
    view: LogView, model: LogModel, qtbot: QtBot
) -> None:
    """Nobody looks at an empty table without knowing why."""
    say(qtbot, model, 3, "line")
    QTest.keyClicks(view._filters._code, "Z9")
    assert view._stack.currentWidget() is view._empty
    view._empty.acted.emit()
    assert view._stack.currentWidget() is view._split
    assert model.rowCount() == 3


def test_the_folder_is_asked_for(view: LogView, model: LogModel, qtbot: QtBot) -> None:
    """The view opens nothing by itself."""
    button = next(
        each for each in view.findChildren(type(view._follow)) if "folder" in each.toolTip()
    )
    with qtbot.waitSignal(view.open_wanted) as asked:
        button.click()
    assert asked.args == [str(model.logs_folder)]
