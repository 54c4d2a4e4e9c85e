"""Waking those who wait for more of a run: streams, and whoever follows its events.

A signal carries nothing. Whoever is woken looks into the store, so that a lost or doubled signal
costs a look and never a line.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class CommitSignals:
    """Made on the event loop, raised from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    def notify(self, topic: str) -> None:
        """Wake those who wait for `topic`: a run's id, or `REGISTRY`. Safe from any thread."""
        if topic in self._waiting and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, topic)

    def _wake(self, topic: str) -> None:
        for event in self._waiting.get(topic, ()):
            event.set()

    @contextmanager
    def listen(self, topic: str) -> Iterator[asyncio.Event]:
        """An event that is set at each `notify` from now on; who has seen it clears it.

        Clear it before looking into the store, or what comes between is overlooked.
        """
        event = asyncio.Event()
        self._waiting[topic].add(event)
        try:
            yield event
        finally:
            self._waiting[topic].discard(event)
            if not self._waiting[topic]:
                del self._waiting[topic]


REGISTRY = "registry"
"""The topic of every change in the registry; run ids are 26 characters, so it is none of them."""
