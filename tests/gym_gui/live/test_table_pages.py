"""Pages of a long table: only those in sight, one at a time, and no more of them than fit."""

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.live.feed.table_pages import PAGE_ROWS, Answer, TablePages
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError
from tests.gym_gui.conftest import PATIENCE_MS


class Store:
    """A million numbers, with a door that can be held shut."""

    def __init__(self) -> None:
        self.total = 1_000_000
        self.asked: list[int] = []
        self.door = threading.Event()
        self.door.set()

    def fetch(self, first: int, count: int) -> Answer[int]:
        self.asked.append(first)
        self.door.wait()
        end = min(first + count, self.total)
        return Answer(list(range(first, end)), self.total, is_settled=end - first == count)


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store()
    yield made
    made.door.set()


@pytest.fixture
def pages(tasks: Tasks, ticker: UiTicker) -> TablePages[int]:
    owner = QObject(ticker)
    return TablePages(tasks, ticker, owner)


def _wait_for(qtbot: QtBot, pages: TablePages[int], number: int) -> None:
    qtbot.waitUntil(lambda: pages.row(number) == number, timeout=PATIENCE_MS)


def test_rows_come_when_they_are_looked_at(
    qtbot: QtBot, pages: TablePages[int], store: Store
) -> None:
    """The first page by itself, any other when it is in sight; none in between."""
    pages.ask(store.fetch)
    _wait_for(qtbot, pages, 5)
    assert pages.total == 1_000_000
    assert pages.row(700_000) is None
    _wait_for(qtbot, pages, 700_000)
    assert set(store.asked) == {0, 700_000}


def test_what_is_in_sight_now_comes_first(
    qtbot: QtBot, pages: TablePages[int], store: Store
) -> None:
    """Whoever scrolls past a hundred pages waits for one, with one request at a time."""
    pages.ask(store.fetch)
    _wait_for(qtbot, pages, 0)
    store.door.clear()
    for page in range(10, 110):
        pages.row(page * PAGE_ROWS)
    qtbot.waitUntil(lambda: len(store.asked) == 2, timeout=PATIENCE_MS)
    assert store.asked[-1] == 109 * PAGE_ROWS
    store.door.set()
    _wait_for(qtbot, pages, 109 * PAGE_ROWS)
    assert len(store.asked) == 2


def test_memory_stays_flat(qtbot: QtBot, pages: TablePages[int], store: Store) -> None:
    """What was seen long ago is let go of."""
    pages.ask(store.fetch)
    for page in range(80):
        _wait_for(qtbot, pages, page * PAGE_ROWS)
    assert pages.pages_kept <= 64
    assert pages.row(0) is None


def test_an_answer_that_is_no_longer_asked_for_is_dropped(
    qtbot: QtBot, pages: TablePages[int], store: Store
) -> None:
    """The rows of one run never appear in the table of another."""
    store.door.clear()
    pages.ask(store.fetch)
    qtbot.waitUntil(lambda: store.asked == [0], timeout=PATIENCE_MS)
    other = Store()
    other.total = 3
    pages.ask(other.fetch)
    store.door.set()
    _wait_for(qtbot, pages, 2)
    assert pages.total == 3


def test_new_rows_are_noticed(qtbot: QtBot, pages: TablePages[int], store: Store) -> None:
    """The total grows, and a page that was not whole is fetched again."""
    store.total = 10
    pages.ask(store.fetch)
    _wait_for(qtbot, pages, 9)
    store.total = 12
    with qtbot.waitSignal(pages.total_changed, timeout=PATIENCE_MS):
        pages.note_news()
    _wait_for(qtbot, pages, 11)


def test_what_is_there_stays_until_there_are_other_rows(
    qtbot: QtBot, pages: TablePages[int], store: Store
) -> None:
    """Nobody sees an empty table between two that have rows."""
    store.total = 3
    pages.ask(store.fetch)
    _wait_for(qtbot, pages, 2)
    other = Store()
    other.total = 5
    other.door.clear()
    pages.ask(other.fetch, keeps_rows=True)
    qtbot.waitUntil(lambda: other.asked == [0], timeout=PATIENCE_MS)
    assert (pages.total, pages.row(2), pages.is_known) == (3, 2, False)
    with qtbot.waitSignals(
        [pages.turned, pages.total_changed], timeout=PATIENCE_MS, order="strict"
    ):
        other.door.set()
    assert (pages.total, pages.row(4)) == (5, 4)


def test_news_that_come_while_a_question_fails_are_looked_at(
    qtbot: QtBot, pages: TablePages[int], store: Store, ticker: UiTicker
) -> None:
    """The ticker may rest by then; what is new is fetched all the same."""
    is_lost = True

    def fetch(first: int, count: int) -> Answer[int]:
        answer = store.fetch(first, count)
        if is_lost:
            raise UserError("Nobody answers.", remedy="", code="T1")
        return answer

    store.door.clear()
    pages.ask(fetch)
    qtbot.waitUntil(lambda: store.asked == [0], timeout=PATIENCE_MS)
    pages.note_news()
    qtbot.waitUntil(lambda: not ticker.is_ticking, timeout=PATIENCE_MS)
    with qtbot.waitSignal(pages.failed, timeout=PATIENCE_MS):
        store.door.set()
    is_lost = False
    qtbot.waitUntil(lambda: pages.is_known, timeout=PATIENCE_MS)
