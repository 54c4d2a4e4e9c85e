"""TablePages: fetches the visible rows of a long table by page and caches them.

One request runs at a time, and the page that was requested last is fetched first. Owned by a table
model, which requests rows while it is painted.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

Row = TypeVar("Row")

PAGE_ROWS = 200
_MAX_PAGES = 64
_REFRESH_S = 0.25


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Fetched rows, the total number of rows, and whether these rows can no longer change."""

    rows: Sequence[Row | None]
    total: int
    is_final: bool


Fetch = Callable[[int, int], Page[Row]]
"""Called on a thread with the index of the first row and the number of rows."""


@dataclass(slots=True)
class _CachedPage(Generic[Row]):
    rows: Sequence[Row | None]
    is_final: bool
    is_stale: bool = False


class TablePages(QObject, Generic[Row]):
    """UI thread only, except `fetch`, which runs on another."""

    rows_loaded = Signal(int, int)
    """Rows from the first index up to the second (exclusive) are loaded or updated."""
    source_replaced = Signal()
    """The rows of the previous source were dropped; rows of the new one follow."""
    total_changed = Signal(int)
    failed = Signal(object)

    def __init__(self, tasks: Tasks, ticker: UiTicker, parent: QObject) -> None:
        super().__init__(parent)
        self.total = 0
        self.is_loaded = False
        """The first page of the current source is loaded."""
        self._tasks = tasks
        self._ticker = ticker
        self._fetch: Fetch[Row] | None = None
        self._cache: OrderedDict[int, _CachedPage[Row]] = OrderedDict()
        self._requested: dict[int, None] = {}
        self._refreshed_at = 0.0
        self._source = 0
        self._is_fetching = False
        self._is_outdated = False
        self._is_replacing = False
        """The rows of the previous source stay until the new one has some."""
        ticker.subscribe(self, self._on_tick)

    def set_source(self, fetch: Fetch[Row] | None, *, keep_rows: bool = False) -> None:
        """Replace the source of rows. Pending results of the previous one are dropped.

        With `keep_rows` the current rows stay until the first new ones are loaded.
        """
        self._source += 1
        self._fetch = fetch
        self._is_replacing = keep_rows and fetch is not None
        if not self._is_replacing:
            self._clear()
        self._requested = {} if fetch is None else {0: None}
        self.is_loaded = False
        self._is_outdated = self._is_fetching = False
        self._ticker.wake()

    def row(self, number: int) -> Row | None:
        """Return a row, or None and request its page."""
        page, offset = divmod(number, PAGE_ROWS)
        cached = self._cache.get(page)
        if cached is None or cached.is_stale or offset >= len(cached.rows):
            self._request(page)
        else:
            self._cache.move_to_end(page)
        return cached.rows[offset] if cached is not None and offset < len(cached.rows) else None

    def has_row(self, number: int) -> bool:
        """Return whether the row was fetched, even if it turned out to be missing."""
        cached = self._cache.get(number // PAGE_ROWS)
        return cached is not None and number % PAGE_ROWS < len(cached.rows)

    def invalidate(self) -> None:
        """Fetch again, at most four times a second: rows may have been added or changed."""
        self._is_outdated = self._fetch is not None
        self._ticker.wake()

    @property
    def cached_pages(self) -> int:
        return len(self._cache)

    def _clear(self) -> None:
        self._cache.clear()
        self.total = 0

    def _request(self, page: int) -> None:
        if self._is_replacing:
            return  # missing rows of the previous source are not fetched
        # The page requested last is visible now.
        self._requested.pop(page, None)
        self._requested[page] = None
        self._ticker.wake()

    def _on_tick(self) -> bool:
        if self._fetch is None or self._is_fetching:
            return False
        if self._is_outdated:
            if time.monotonic() < self._refreshed_at + _REFRESH_S:
                return True
            self._is_outdated = False
            self._refreshed_at = time.monotonic()
            for cached in self._cache.values():
                cached.is_stale = not cached.is_final
            self._start_fetch(max(0, self.total - 1) // PAGE_ROWS if self.is_loaded else 0)
        elif self._requested:
            page, _ = self._requested.popitem()
            self._requested.clear()  # pages that are still visible are requested when painted
            self._start_fetch(page)
        else:
            return False
        return True

    def _start_fetch(self, page: int) -> None:
        fetch, source = self._fetch, self._source
        if fetch is None:
            return
        self._is_fetching = True

        def on_fetched(result: Page[Row]) -> None:
            if source == self._source:
                self._store(page, result)

        def on_failed(error: UserError) -> None:
            if source == self._source:
                self._is_fetching = False
                self.failed.emit(error)
                self._ticker.wake()  # `invalidate` may have been called during the request

        self._tasks.run(self, lambda: fetch(page * PAGE_ROWS, PAGE_ROWS), on_fetched, on_failed)

    def _store(self, page: int, result: Page[Row]) -> None:
        self._is_fetching = False
        is_first = not self.is_loaded
        self.is_loaded = True
        if self._is_replacing:
            self._is_replacing = False
            self._clear()
            self.source_replaced.emit()
        self._cache[page] = _CachedPage(result.rows, result.is_final)
        self._cache.move_to_end(page)
        self._requested.pop(page, None)  # it may have been requested again during the fetch
        while len(self._cache) > _MAX_PAGES:
            self._cache.popitem(last=False)
        if result.total != self.total or is_first:
            self.total = result.total
            self.total_changed.emit(result.total)
        first = page * PAGE_ROWS
        self.rows_loaded.emit(first, first + len(result.rows))
        self._ticker.wake()
