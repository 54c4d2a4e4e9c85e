"""Who is told of steps as they happen, and what is to be noted on the next one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.scalars import whole64

if TYPE_CHECKING:
    Listener = Callable[[dict[str, Any]], None]

_TYPED: dict[str, Callable[[Any], Any]] = {
    "actor": str,
    "agent_id": str,
    "seq": partial(whole64, "seq"),
}
NOTED = ("render", "actor", "seq", "bdi", "llm", "agent_id")
"""In the order of a step's fields."""


class Watchers:
    """Shared by all tracks of a recorder.

    `is_idle` says that the next step concerns nobody but the record, and `are_there` that a reset
    may concern somebody.
    """

    __slots__ = ("_listener", "_notes", "_on_episode", "are_there", "is_idle")

    def __init__(self) -> None:
        self._listener: Listener | None = None
        self._on_episode: Listener | None = None
        self._notes: dict[str, Any] = {}
        self.is_idle = True
        self.are_there = False

    @property
    def listener(self) -> Listener | None:
        return self._listener

    @listener.setter
    def listener(self, listener: Listener | None) -> None:
        self._listener = listener
        self._settle()

    @property
    def on_episode(self) -> Listener | None:
        return self._on_episode

    @on_episode.setter
    def on_episode(self, listener: Listener | None) -> None:
        self._on_episode = listener
        self._settle()

    def note(self, fields: dict[str, Any]) -> None:
        unknown = sorted(set(fields) - set(NOTED))
        if unknown:
            raise TypeError(f"{unknown[0]!r} cannot be noted on a step; {', '.join(NOTED)} can")
        given = {name: value for name, value in fields.items() if value is not None}
        for name, make_plain in _TYPED.items():
            if name in given:
                given[name] = make_plain(given[name])
        self._notes.update(given)
        self._settle()

    def take_notes(self) -> dict[str, Any]:
        """What was noted for this step, once."""
        notes, self._notes = self._notes, {}
        self._settle()
        return notes

    def _settle(self) -> None:
        self.is_idle = self._listener is None and not self._notes
        watched = self._listener is not None or self._on_episode is not None
        self.are_there = watched or bool(self._notes)
