"""StepListeners: callbacks for recorded steps, and annotations for the next one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.scalars import to_int64

if TYPE_CHECKING:
    Listener = Callable[[dict[str, Any]], None]

_TYPED: dict[str, Callable[[Any], Any]] = {
    "actor": str,
    "agent_id": str,
    "seq": partial(to_int64, "seq"),
}
ANNOTATION_FIELDS = ("render", "actor", "seq", "bdi", "llm", "agent_id")
"""Fields that `annotate` accepts, in the order of the fields of a step."""


class StepListeners:
    """Shared by all traces of a recorder.

    `is_idle`: the next step has neither a listener nor annotations. `is_active`: a reset may have.
    """

    __slots__ = ("_annotations", "_listener", "_on_episode", "is_active", "is_idle")

    def __init__(self) -> None:
        self._listener: Listener | None = None
        self._on_episode: Listener | None = None
        self._annotations: dict[str, Any] = {}
        self.is_idle = True
        self.is_active = False

    @property
    def listener(self) -> Listener | None:
        return self._listener

    @listener.setter
    def listener(self, listener: Listener | None) -> None:
        self._listener = listener
        self._update_flags()

    @property
    def on_episode(self) -> Listener | None:
        return self._on_episode

    @on_episode.setter
    def on_episode(self, listener: Listener | None) -> None:
        self._on_episode = listener
        self._update_flags()

    def annotate(self, fields: dict[str, Any]) -> None:
        unknown = sorted(set(fields) - set(ANNOTATION_FIELDS))
        if unknown:
            names = ", ".join(ANNOTATION_FIELDS)
            raise TypeError(f"{unknown[0]!r} is not an annotation of a step; use one of {names}")
        given = {name: value for name, value in fields.items() if value is not None}
        for name, make_plain in _TYPED.items():
            if name in given:
                given[name] = make_plain(given[name])
        self._annotations.update(given)
        self._update_flags()

    def pop_annotations(self) -> dict[str, Any]:
        """Return and clear the annotations of this step."""
        annotations, self._annotations = self._annotations, {}
        self._update_flags()
        return annotations

    def _update_flags(self) -> None:
        self.is_idle = self._listener is None and not self._annotations
        has_listener = self._listener is not None or self._on_episode is not None
        self.is_active = has_listener or bool(self._annotations)
