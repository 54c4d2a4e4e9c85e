"""TablePages: rows of a table with a million of them, a page at a time, and only those in sight.

What is asked for last is fetched first, one request at a time, and what was fetched is kept up to a
limit. Owned by a table model, which asks for rows while it is painted.
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
_MOST_PAGES = 64
_REFRESH_S = 0.25


@dataclass(frozen=True, slots=True)
class Answer(Generic[Row]):
    """Rows as they were, how many there are in all, and whether these will never change."""

    rows: Sequence[Row | None]
    total: int
    is_settled: bool


Fetch = Callable[[int, int], Answer[Row]]
"""Called on a thread with the first row wanted and how many."""


@dataclass(slots=True)
class _Kept(Generic[Row]):
    rows: Sequence[Row | None]
    is_settled: bool
    is_stale: bool = False


class TablePages(QObject, Generic[Row]):
    """All of it is for the UI thread; `fetch` alone runs on another."""

    arrived = Signal(int, int)
    """Rows from the first number up to the second (excluded) are there, or are newer."""
    turned = Signal()
    """What was kept on the screen goes: the first rows of what was asked for since are there."""
    total_changed = Signal(int)
    failed = Signal(object)

    def __init__(self, tasks: Tasks, ticker: UiTicker, parent: QObject) -> None:
        super().__init__(parent)
        self.total = 0
        self.is_known = False
        """The first answer is there."""
        self._tasks = tasks
        self._ticker = ticker
        self._fetch: Fetch[Row] | None = None
        self._kept: OrderedDict[int, _Kept[Row]] = OrderedDict()
        self._wanted: dict[int, None] = {}
        self._asked_at = 0.0
        self._question = 0
        self._is_asking = False
        self._is_old = False
        self._is_turning = False
        """Rows of what was asked for before stay until there are others."""
        ticker.subscribe(self, self._on_tick)

    def ask(self, fetch: Fetch[Row] | None, *, keeps_rows: bool = False) -> None:
        """Rows of something else from now on; answers to what was asked before are dropped.

        With `keeps_rows` those that are there stay until the first of the others come.
        """
        self._question += 1
        self._fetch = fetch
        self._is_turning = keeps_rows and fetch is not None
        if not self._is_turning:
            self._let_go()
        self._wanted = {} if fetch is None else {0: None}
        self.is_known = False
        self._is_old = self._is_asking = False
        self._ticker.wake()

    def row(self, number: int) -> Row | None:
        """None when it is not there yet; it is fetched soon."""
        page, place = divmod(number, PAGE_ROWS)
        kept = self._kept.get(page)
        if kept is None or kept.is_stale or place >= len(kept.rows):
            self._want(page)
        else:
            self._kept.move_to_end(page)
        return kept.rows[place] if kept is not None and place < len(kept.rows) else None

    def is_there(self, number: int) -> bool:
        """Whether it has been fetched, also where there turned out to be nothing."""
        kept = self._kept.get(number // PAGE_ROWS)
        return kept is not None and number % PAGE_ROWS < len(kept.rows)

    def note_news(self) -> None:
        """There may be more rows, or other ones; seen to at most four times a second."""
        self._is_old = self._fetch is not None
        self._ticker.wake()

    @property
    def pages_kept(self) -> int:
        return len(self._kept)

    def _let_go(self) -> None:
        self._kept.clear()
        self.total = 0

    def _want(self, page: int) -> None:
        if self._is_turning:
            return  # what is missing of the rows that go is not fetched any more
        # Looked for last is in sight now.
        self._wanted.pop(page, None)
        self._wanted[page] = None
        self._ticker.wake()

    def _on_tick(self) -> bool:
        if self._fetch is None or self._is_asking:
            return False
        if self._is_old:
            if time.monotonic() < self._asked_at + _REFRESH_S:
                return True
            self._is_old = False
            self._asked_at = time.monotonic()
            for kept in self._kept.values():
                kept.is_stale = not kept.is_settled
            self._request(max(0, self.total - 1) // PAGE_ROWS if self.is_known else 0)
        elif self._wanted:
            page, _ = self._wanted.popitem()
            self._wanted.clear()  # what is still in sight is asked for again when it is painted
            self._request(page)
        else:
            return False
        return True

    def _request(self, page: int) -> None:
        fetch, question = self._fetch, self._question
        if fetch is None:
            return
        self._is_asking = True

        def answered(answer: Answer[Row]) -> None:
            if question == self._question:
                self._take(page, answer)

        def refused(error: UserError) -> None:
            if question == self._question:
                self._is_asking = False
                self.failed.emit(error)
                self._ticker.wake()  # there may have been news meanwhile

        self._tasks.run(self, lambda: fetch(page * PAGE_ROWS, PAGE_ROWS), answered, refused)

    def _take(self, page: int, answer: Answer[Row]) -> None:
        self._is_asking = False
        is_first = not self.is_known
        self.is_known = True
        if self._is_turning:
            self._is_turning = False
            self._let_go()
            self.turned.emit()
        self._kept[page] = _Kept(answer.rows, answer.is_settled)
        self._kept.move_to_end(page)
        self._wanted.pop(page, None)  # it was looked for again while it was on its way
        while len(self._kept) > _MOST_PAGES:
            self._kept.popitem(last=False)
        if answer.total != self.total or is_first:
            self.total = answer.total
            self.total_changed.emit(answer.total)
        first = page * PAGE_ROWS
        self.arrived.emit(first, first + len(answer.rows))
        self._ticker.wake()
