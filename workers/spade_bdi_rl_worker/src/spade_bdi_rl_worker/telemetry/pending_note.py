"""PendingNote: a change of mind that waits for the next step which has a line of its own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class PendingNote:
    """Put in by the agent's thread, taken by the learner's. Several that wait become one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Any] = {}

    def put(self, bdi: Mapping[str, Any]) -> None:
        """Beliefs add up; of all else the newest counts."""
        with self._lock:
            waiting = self._waiting
            changed = {
                name: [*waiting.get(name, ()), *bdi.get(name, ())] for name in ("added", "removed")
            }
            given = {name: each for name, each in changed.items() if each}
            self._waiting = {**waiting, **bdi, **given}

    def take(self) -> dict[str, Any]:
        """What waits, once; empty when nothing does, which costs next to nothing to ask."""
        if not self._waiting:
            return {}
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        return waiting
