"""Actor: the interface of policies and scripts, and how an actor is created from its name.

docs/writing-an-actor.md is the guide for authors.
"""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Protocol

from mosaic_worker.compat import make_getattr
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping

HUMAN = "human"
"""The actor name of a human player."""


class Actor(Protocol):
    """Chooses actions. Only `act` is required.

    Optional members: `begin_episode(observation, info)` is called when an episode starts, and when
    the actor takes control of a running one. `episode_seed` is the seed of new episodes unless the
    user sends another one. `policy()`, for `Discrete` observations, returns a mapping with
    `actions` (one per state), `q_values` (one row per state), or both; or None. It is called when
    an episode starts, at most once per second. `close()` is called at the end.
    """

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """An action of the environment's action space.

        A human may have acted since the last call: the observation is always the current one.
        """


ActorFactory = Callable[[Any], Actor]
"""Creates an actor for an environment. Raises `WorkerError` if it cannot act there."""


class NamedActor(NamedTuple):
    """An actor and the name recorded with its steps. `actor` is None for a human."""

    name: str
    actor: Actor | None

    def begin_episode(self, observation: Any, info: dict[str, Any]) -> None:
        """Call the optional method of the actor. Raises only WorkerError."""
        begin = getattr(self.actor, "begin_episode", None)
        if begin is not None:
            _call(lambda: begin(observation, info))

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """The action of the actor; None for a human. Raises only WorkerError."""
        actor = self.actor
        return None if actor is None else _call(lambda: actor.act(observation, info))

    @property
    def episode_seed(self) -> int | None:
        """The seed that the actor requires for its episodes, if any."""
        seed = getattr(self.actor, "episode_seed", None)
        return seed if isinstance(seed, int) else None

    def close(self) -> None:
        """Close the actor; an exception is only printed."""
        close = getattr(self.actor, "close", None)
        if close is not None:
            try:
                _call(close)
            except WorkerError as error:
                print_traceback(error)


class BorrowedActor:
    """Wraps an existing actor without its `close`, because the caller of `play` owns it."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return self._actor.act(observation, info)

    def __getattr__(self, name: str) -> Any:
        if name == "close":
            raise AttributeError(name)
        return getattr(self._actor, name)


def make_actor(name: str, factories: Mapping[str, ActorFactory], env: Any) -> NamedActor:
    """Create the actor with this name for `env`. Raises WorkerError."""
    if name == HUMAN:
        return NamedActor(HUMAN, None)
    try:
        factory = factories[name]
    except KeyError:
        names = ", ".join([HUMAN, *(known for known in factories if known != HUMAN)])
        raise WorkerError(f"Unknown actor '{name}'.", remedy=f"Choose one of {names}.") from None
    actor = _call(lambda: factory(env))
    if not callable(getattr(actor, "act", None)):
        raise WorkerError(
            f"The actor '{name}' has no method act(observation, info).",
            remedy="Add it; see docs/writing-an-actor.md.",
        )
    return NamedActor(name, actor)


def _call(code: Callable[[], Any]) -> Any:
    """Call third-party code, which may raise anything, and convert exceptions to WorkerError."""
    try:
        return code()
    except WorkerError:
        raise
    except (Exception, SystemExit) as error:  # a script may call sys.exit()
        raise WorkerError(
            f"{type(error).__name__}: {error}",
            remedy="Correct the actor; the traceback is in the run's log.",
        ) from error


def print_traceback(error: BaseException) -> None:
    """Print the traceback of third-party code to the run's log."""
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)


if not TYPE_CHECKING:
    __getattr__ = make_getattr(__name__)
