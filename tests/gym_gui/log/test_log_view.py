"""LogView: following, searching, details, copying and the empty state."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gym_gui.log.feed import LogFeed
from gym_gui.log.model.log_models import LogModel
from gym_gui.log.view.log_view import LogView
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import TIMEOUT_MS

_log = logging.getLogger("tests")

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
"""Not supported by the offscreen platform."""


@pytest.fixture
def model(tmp_path: Path, ticker: UiTicker) -> Iterator[LogModel]:
    """Without a daemon: it has the lines of this process."""
    feed = LogFeed(TrainerLink(Home(tmp_path)), ticker)
    _log.setLevel(logging.INFO)
    yield LogModel(feed, ticker)
    feed.close()


@pytest.fixture
def view(model: LogModel, theme: ThemeModel, qtbot: QtBot) -> LogView:
    view = LogView(model, theme)
    qtbot.addWidget(view)
    view.resize(900, 300)
    view.show()
    qtbot.waitExposed(view)
    return view


def log_lines(qtbot: QtBot, model: LogModel, count: int, text: str) -> None:
    before = model.stored_count
    for number in range(count):
        _log.warning("T100 %s %d", text, number)
    qtbot.waitUntil(lambda: model.stored_count == before + count, timeout=TIMEOUT_MS)


def test_table_follows_new_lines_until_scrolled_up(
    view: LogView, model: LogModel, qtbot: QtBot
) -> None:
    """Page Up stops following; the button resumes it."""
    log_lines(qtbot, model, 200, "first")
    bar = view._table.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    view._table.setFocus()
    QTest.keyClick(view._table, Qt.Key.Key_PageUp)
    assert not view._follow.isChecked()
    position = bar.value()
    log_lines(qtbot, model, 50, "second")
    assert bar.value() == position
    view._follow.click()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum())
    assert view._table.is_following


def test_search_selects_and_copies_matches(view: LogView, model: LogModel, qtbot: QtBot) -> None:
    """Enter selects the next match, whose details are shown and which is copied with context."""
    log_lines(qtbot, model, 30, "needle")
    search = view._filters._search
    QTest.keyClicks(search, "NEEDLE 1")
    assert view._filters._count.text() == "11 matches"
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


def test_empty_state_resets_the_filter(view: LogView, model: LogModel, qtbot: QtBot) -> None:
    """If the filter hides all lines, a button shows them again."""
    log_lines(qtbot, model, 3, "line")
    QTest.keyClicks(view._filters._code, "Z9")
    assert view._stack.currentWidget() is view._empty
    view._empty.action_triggered.emit()
    assert view._stack.currentWidget() is view._split
    assert model.rowCount() == 3


def test_folder_button_requests_the_log_folder(
    view: LogView, model: LogModel, qtbot: QtBot
) -> None:
    """The view only emits a signal."""
    button = next(
        button for button in view.findChildren(type(view._follow)) if "folder" in button.toolTip()
    )
    with qtbot.waitSignal(view.open_requested) as requested:
        button.click()
    assert requested.args == [str(model.logs_folder)]
