"""CommitSignals: wakes streams that wait for new data of a run or of the registry.

A signal carries no data. A woken stream reads the store, so that a lost or repeated signal costs a
read and never a line.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class CommitSignals:
    """Created on the event loop, notified from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._listeners: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    def notify(self, topic: str) -> None:
        """Wake the listeners of `topic`: a run's id, or `REGISTRY`. Safe from any thread."""
        if topic in self._listeners and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, topic)

    def _wake(self, topic: str) -> None:
        for event in self._listeners.get(topic, ()):
            event.set()

    @contextmanager
    def listen(self, topic: str) -> Iterator[asyncio.Event]:
        """An event that is set at each `notify` from now on; the listener clears it.

        Clear it before reading the store, or a commit in between is missed.
        """
        event = asyncio.Event()
        self._listeners[topic].add(event)
        try:
            yield event
        finally:
            self._listeners[topic].discard(event)
            if not self._listeners[topic]:
                del self._listeners[topic]


REGISTRY = "registry"
"""The topic of every change in the registry. It cannot be a run id, which has 26 characters."""
