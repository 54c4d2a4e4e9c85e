"""Pages of a long table: only visible ones, one at a time, with a bounded cache."""

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.live.feed.table_pages import PAGE_ROWS, Page, TablePages
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError
from tests.gym_gui.conftest import TIMEOUT_MS


class Store:
    """A million numbers; requests wait while `gate` is not set."""

    def __init__(self) -> None:
        self.total = 1_000_000
        self.requests: list[int] = []
        self.gate = threading.Event()
        self.gate.set()

    def fetch(self, first: int, count: int) -> Page[int]:
        self.requests.append(first)
        self.gate.wait()
        end = min(first + count, self.total)
        return Page(list(range(first, end)), self.total, is_final=end - first == count)


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store()
    yield store
    store.gate.set()


@pytest.fixture
def pages(tasks: Tasks, ticker: UiTicker) -> TablePages[int]:
    owner = QObject(ticker)
    return TablePages(tasks, ticker, owner)


def _wait_for(qtbot: QtBot, pages: TablePages[int], number: int) -> None:
    qtbot.waitUntil(lambda: pages.row(number) == number, timeout=TIMEOUT_MS)


def test_rows_are_fetched_on_access(qtbot: QtBot, pages: TablePages[int], store: Store) -> None:
    """The first page is always fetched, any other one on access, and none between them."""
    pages.set_source(store.fetch)
    _wait_for(qtbot, pages, 5)
    assert pages.total == 1_000_000
    assert pages.row(700_000) is None
    _wait_for(qtbot, pages, 700_000)
    assert set(store.requests) == {0, 700_000}


def test_last_requested_page_is_fetched_first(
    qtbot: QtBot, pages: TablePages[int], store: Store
) -> None:
    """After scrolling past a hundred pages, only the last one is fetched."""
    pages.set_source(store.fetch)
    _wait_for(qtbot, pages, 0)
    store.gate.clear()
    for page in range(10, 110):
        pages.row(page * PAGE_ROWS)
    qtbot.waitUntil(lambda: len(store.requests) == 2, timeout=TIMEOUT_MS)
    assert store.requests[-1] == 109 * PAGE_ROWS
    store.gate.set()
    _wait_for(qtbot, pages, 109 * PAGE_ROWS)
    assert len(store.requests) == 2


def test_cache_is_bounded(qtbot: QtBot, pages: TablePages[int], store: Store) -> None:
    """The least recently used pages are dropped."""
    pages.set_source(store.fetch)
    for page in range(80):
        _wait_for(qtbot, pages, page * PAGE_ROWS)
    assert pages.cached_pages <= 64
    assert pages.row(0) is None


def test_result_of_a_previous_source_is_dropped(
    qtbot: QtBot, pages: TablePages[int], store: Store
) -> None:
    """The rows of one run never appear in the table of another."""
    store.gate.clear()
    pages.set_source(store.fetch)
    qtbot.waitUntil(lambda: store.requests == [0], timeout=TIMEOUT_MS)
    other = Store()
    other.total = 3
    pages.set_source(other.fetch)
    store.gate.set()
    _wait_for(qtbot, pages, 2)
    assert pages.total == 3


def test_invalidate_fetches_new_rows(qtbot: QtBot, pages: TablePages[int], store: Store) -> None:
    """The total grows, and an incomplete page is fetched again."""
    store.total = 10
    pages.set_source(store.fetch)
    _wait_for(qtbot, pages, 9)
    store.total = 12
    with qtbot.waitSignal(pages.total_changed, timeout=TIMEOUT_MS):
        pages.invalidate()
    _wait_for(qtbot, pages, 11)


def test_rows_stay_until_the_new_source_has_some(
    qtbot: QtBot, pages: TablePages[int], store: Store
) -> None:
    """The table is never empty between two sources that have rows."""
    store.total = 3
    pages.set_source(store.fetch)
    _wait_for(qtbot, pages, 2)
    other = Store()
    other.total = 5
    other.gate.clear()
    pages.set_source(other.fetch, keep_rows=True)
    qtbot.waitUntil(lambda: other.requests == [0], timeout=TIMEOUT_MS)
    assert (pages.total, pages.row(2), pages.is_loaded) == (3, 2, False)
    with qtbot.waitSignals(
        [pages.source_replaced, pages.total_changed], timeout=TIMEOUT_MS, order="strict"
    ):
        other.gate.set()
    assert (pages.total, pages.row(4)) == (5, 4)


def test_invalidate_during_a_failing_request_fetches_again(
    qtbot: QtBot, pages: TablePages[int], store: Store, ticker: UiTicker
) -> None:
    """This holds even if the ticker is idle by then."""
    is_failing = True

    def fetch(first: int, count: int) -> Page[int]:
        page = store.fetch(first, count)
        if is_failing:
            raise UserError("No answer.", remedy="", code="T1")
        return page

    store.gate.clear()
    pages.set_source(fetch)
    qtbot.waitUntil(lambda: store.requests == [0], timeout=TIMEOUT_MS)
    pages.invalidate()
    qtbot.waitUntil(lambda: not ticker.is_ticking, timeout=TIMEOUT_MS)
    with qtbot.waitSignal(pages.failed, timeout=TIMEOUT_MS):
        store.gate.set()
    is_failing = False
    qtbot.waitUntil(lambda: pages.is_loaded, timeout=TIMEOUT_MS)
