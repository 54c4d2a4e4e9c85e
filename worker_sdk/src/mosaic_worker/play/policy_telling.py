"""PolicyTelling: asks actors what they would do in each state, and tells it when it has changed."""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.errors import WorkerError
from mosaic_worker.play.actor import print_cause
from mosaic_worker.policy_table import PolicyTable, policy_table

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.play.actor import Part

NOT_TOLD = "W280"
"""What the actor would do in each state cannot be told; it acts on, and is not asked again."""

_ASK_EVERY_S = 1.0
_NOTHING = PolicyTable()


class PolicyTelling:
    """Of one session. An actor that offers no `policy()` costs nothing but the look."""

    def __init__(self, emitter: Emitter, clock: Callable[[], float] = time.monotonic) -> None:
        self._emitter = emitter
        self._clock = clock
        self._actor: Any = None
        self._ask: Callable[[], Any] | None = None
        self._ask_at = 0.0
        self._told = _NOTHING

    def start(self) -> None:
        """There is another environment: what was told before is not true of it."""
        self._actor = self._ask = None
        self._told = _NOTHING

    def tell(self, part: Part, step: int) -> None:
        """Of an actor that was not asked yet at once, else not more than once a second."""
        if part.actor is not self._actor:
            self._actor, self._ask = part.actor, _policy_of(part.actor)
        elif self._ask is None or self._clock() < self._ask_at:
            return
        table = self._asked(part.name)
        self._ask_at = self._clock() + _ASK_EVERY_S
        if table != self._told:
            self._told = table
            self._emitter.policy(*table, step=step, actor=part.name)

    def _asked(self, name: str) -> PolicyTable:
        if self._ask is None:
            return _NOTHING
        try:
            return _table(self._ask())
        except WorkerError as error:
            problem = error.message
        except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody else's code
            print_cause(error)
            problem = f"{type(error).__name__}: {error}"
        self._ask = None
        message = f"What '{name}' would do in each state cannot be shown: {problem}"
        self._emitter.log("warning", NOT_TOLD, message)
        return _NOTHING


def _policy_of(actor: Any) -> Callable[[], Any] | None:
    """Its method `policy`; many actors keep a network of that name, which is not asked."""
    method = getattr(actor, "policy", None)
    return method if inspect.ismethod(method) else None


def _table(offered: Any) -> PolicyTable:
    if offered is None:
        return _NOTHING
    try:
        return policy_table(**offered)
    except TypeError as error:
        raise WorkerError(
            "policy() returned no mapping of 'actions' and 'q_values'.",
            remedy="Return {'actions': […]}, {'q_values': [[…], …]}, both, or None.",
        ) from error
