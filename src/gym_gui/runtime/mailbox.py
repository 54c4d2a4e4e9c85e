"""Mailbox: from one thread that reads a stream to the UI thread, bounded, and without losses."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")

MOST_WAITING = 20_000


class Mailbox(Generic[Item]):
    """`put` waits while it is full, so a stream that nobody looks at stands still in the store."""

    def __init__(self, wake: Callable[[], None], limit: int = MOST_WAITING) -> None:
        """`wake` is called, on the putting thread, when there is something to take."""
        self._wake = wake
        self._limit = limit
        self._changed = threading.Condition()
        self._items: list[Item] = []
        self._is_closed = False

    def put(self, item: Item) -> bool:
        """False when the box is closed and the item was not taken."""
        with self._changed:
            while len(self._items) >= self._limit and not self._is_closed:
                self._changed.wait()
            if self._is_closed:
                return False
            self._items.append(item)
            is_first = len(self._items) == 1
        if is_first:
            self._wake()
        return True

    def take(self) -> list[Item]:
        """All that waits, at once."""
        if not self._items:
            return []
        with self._changed:
            items, self._items = self._items, []
            self._changed.notify_all()
        return items

    def close(self) -> None:
        """Nothing is taken any more, and who waits to put something stops waiting."""
        with self._changed:
            self._is_closed = True
            self._items = []
            self._changed.notify_all()
