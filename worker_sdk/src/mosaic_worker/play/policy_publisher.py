"""PolicyPublisher: emits the policy of an actor, for every state, when it has changed."""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.errors import WorkerError
from mosaic_worker.play.actor import print_traceback
from mosaic_worker.policy_table import PolicyTable, make_policy_table

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.play.actor import NamedActor

POLICY_UNAVAILABLE = "W280"
"""policy() of the actor failed; the actor continues, and policy() is not called again."""

_PUBLISH_EVERY_S = 1.0
_EMPTY = PolicyTable()


class PolicyPublisher:
    """The policies of one session. An actor without `policy()` costs one attribute lookup."""

    def __init__(self, emitter: Emitter, clock: Callable[[], float] = time.monotonic) -> None:
        self._emitter = emitter
        self._clock = clock
        self._actor: Any = None
        self._get_policy: Callable[[], Any] | None = None
        self._next_call_s = 0.0
        self._published = _EMPTY

    def start(self) -> None:
        """Forget the published policy, because the environment has changed."""
        self._actor = self._get_policy = None
        self._published = _EMPTY

    def publish(self, named: NamedActor, step: int) -> None:
        """Publish the policy immediately for a new actor, else at most once per second."""
        if named.actor is not self._actor:
            self._actor, self._get_policy = named.actor, _find_policy_method(named.actor)
        elif self._get_policy is None or self._clock() < self._next_call_s:
            return
        table = self._call_policy(named.name)
        self._next_call_s = self._clock() + _PUBLISH_EVERY_S
        if table != self._published:
            self._published = table
            self._emitter.policy(*table, step=step, actor=named.name)

    def _call_policy(self, name: str) -> PolicyTable:
        if self._get_policy is None:
            return _EMPTY
        try:
            return _to_table(self._get_policy())
        except WorkerError as error:
            problem = error.message
        except (Exception, SystemExit) as error:  # noqa: BLE001 - third-party code
            print_traceback(error)
            problem = f"{type(error).__name__}: {error}"
        self._get_policy = None
        message = f"The policy of '{name}' cannot be shown: {problem}"
        self._emitter.log("warning", POLICY_UNAVAILABLE, message)
        return _EMPTY


def _find_policy_method(actor: Any) -> Callable[[], Any] | None:
    """The method `policy`; many actors have a network of that name, which is ignored."""
    method = getattr(actor, "policy", None)
    return method if inspect.ismethod(method) else None


def _to_table(returned: Any) -> PolicyTable:
    if returned is None:
        return _EMPTY
    try:
        return make_policy_table(**returned)
    except TypeError as error:
        raise WorkerError(
            "policy() must return a mapping with 'actions' or 'q_values', or both.",
            remedy="Return {'actions': […]}, {'q_values': [[…], …]}, both, or None.",
        ) from error
