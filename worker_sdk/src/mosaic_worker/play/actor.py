"""Who acts: the interface of an actor, and how an actor is made from its name.

This is what policies of workers and scripts of people implement; docs/writing-an-actor.md is its
page.
"""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Protocol

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping

HUMAN = "human"
"""The name of the person at the controls, in every session."""


class Actor(Protocol):
    """Chooses actions. `act` is all that it needs.

    Four more are used when they are there. `begin_episode(observation, info)` is called when an
    episode begins, and when the actor is put into one that is under way. `episode_seed`, a number,
    is what an episode begins with when nobody asks for another seed. `policy()`, where observations
    are `Discrete`, is what it would do in every state, for views that draw it: a mapping with
    `actions`, one of each state, or `q_values`, those of all actions of each state, or both; or
    None. It is asked when an episode begins, at most once a second. `close()` is called at the end.
    """

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """An action of the environment's action space.

        Between two calls a person may have acted: the observation is always the present one.
        """


ActorFactory = Callable[[Any], Actor]
"""Makes an actor for an environment. Raises `WorkerError` when it cannot play there."""


class Part(NamedTuple):
    """An actor and the name that stands on its steps. A person has no actor object."""

    name: str
    actor: Actor | None

    def begin_episode(self, observation: Any, info: dict[str, Any]) -> None:
        """Tell the actor, if it wants to know. Raises only WorkerError."""
        begin = getattr(self.actor, "begin_episode", None)
        if begin is not None:
            _call(lambda: begin(observation, info))

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """What the actor chooses. Raises only WorkerError; not to be asked of a person."""
        actor = self.actor
        return None if actor is None else _call(lambda: actor.act(observation, info))

    @property
    def episode_seed(self) -> int | None:
        """What the actor's episodes must begin with, if it is bound to a seed."""
        seed = getattr(self.actor, "episode_seed", None)
        return seed if isinstance(seed, int) else None

    def close(self) -> None:
        """What an actor raises now concerns nobody but its author."""
        close = getattr(self.actor, "close", None)
        if close is not None:
            try:
                _call(close)
            except WorkerError as error:
                print_cause(error)


class LentActor:
    """An actor that exists already: whoever made it closes it, however often it is let go of."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return self._actor.act(observation, info)

    def __getattr__(self, name: str) -> Any:
        if name == "close":
            raise AttributeError(name)
        return getattr(self._actor, name)


def make_part(name: str, factories: Mapping[str, ActorFactory], env: Any) -> Part:
    """The actor of that name for `env`; WorkerError says why there is none."""
    if name == HUMAN:
        return Part(HUMAN, None)
    try:
        factory = factories[name]
    except KeyError:
        known = ", ".join([HUMAN, *(each for each in factories if each != HUMAN)])
        raise WorkerError(
            f"There is no actor '{name}' here.", remedy=f"Choose one of {known}."
        ) from None
    actor = _call(lambda: factory(env))
    if not callable(getattr(actor, "act", None)):
        raise WorkerError(
            f"The actor '{name}' has no method act(observation, info).",
            remedy="Give it one; docs/writing-an-actor.md shows how.",
        )
    return Part(name, actor)


def _call(code: Callable[[], Any]) -> Any:
    """Run somebody else's code, which may raise anything, and must not end a session."""
    try:
        return code()
    except WorkerError:
        raise
    except (Exception, SystemExit) as error:  # a script may well end with sys.exit()
        raise WorkerError(
            f"{type(error).__name__}: {error}",
            remedy="Correct the actor; the traceback is in the run's log.",
        ) from error


def print_cause(error: BaseException) -> None:
    """The traceback of somebody else's code, to the run's log."""
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
