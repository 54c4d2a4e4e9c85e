"""Mailbox: passes items from a thread that reads a stream to its consumer, bounded and lossless."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")

DEFAULT_CAPACITY = 20_000


class Mailbox(Generic[Item]):
    """`put` blocks while the mailbox is full, so the rest of the stream stays in the store."""

    def __init__(self, wake: Callable[[], None], capacity: int = DEFAULT_CAPACITY) -> None:
        """`wake` is called on the thread of `put` when the mailbox is no longer empty."""
        self._wake = wake
        self._capacity = capacity
        self._changed = threading.Condition()
        self._items: list[Item] = []
        self._is_closed = False

    def put(self, item: Item) -> bool:
        """Add an item; return False if the mailbox is closed and the item was discarded."""
        with self._changed:
            while len(self._items) >= self._capacity and not self._is_closed:
                self._changed.wait()
            if self._is_closed:
                return False
            self._items.append(item)
            is_first = len(self._items) == 1
        if is_first:
            self._wake()
        return True

    def take(self) -> list[Item]:
        """Remove and return all items."""
        if not self._items:
            return []
        with self._changed:
            items, self._items = self._items, []
            self._changed.notify_all()
        return items

    def close(self) -> None:
        """Discard all items and unblock `put`."""
        with self._changed:
            self._is_closed = True
            self._items = []
            self._changed.notify_all()
