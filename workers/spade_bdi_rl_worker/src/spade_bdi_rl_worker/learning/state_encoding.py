"""States as numbers: whatever an environment shows, as the index of a row of the table.

| observations | index |
|---|---|
| `Discrete` | the number itself |
| a tuple of those (Blackjack), `MultiDiscrete` | all numbers as digits of one |
| MiniGrid | numbered as they are met; a hash of the whole grid tells them apart |
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Protocol

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DISCRETE, DIGITS, HASHED = "discrete", "digits", "hashed"
MOST_STATES = 5_000_000
_HASH_BYTES = 8


class StateEncoding(Protocol):
    """Of one environment."""

    kind: str

    @property
    def states(self) -> int:
        """How many there are, or are known so far."""

    @property
    def names(self) -> list[str] | None:
        """Of states that are numbered as they are met, in that order."""

    def number(self, name: str) -> int | None:
        """Of the state that a teammate calls so: its name, or its number as text."""

    def index(self, observation: Any) -> int:
        """Of the state that the environment is in now, and shows as `observation`."""


def countable(env: Any) -> StateEncoding:
    """Its states, when a table can hold them and its actions; otherwise WorkerError."""
    from gymnasium import spaces  # noqa: PLC0415 - slow to import

    if not isinstance(env.action_space, spaces.Discrete):
        raise WorkerError(
            f"{type(env.unwrapped).__name__} has no discrete actions.",
            remedy="Choose FrozenLake, CliffWalking, Taxi, Blackjack or a MiniGrid.",
        )
    return encoding_of(env)


def encoding_of(env: Any) -> StateEncoding:
    """WorkerError when there is no table for such observations."""
    from gymnasium import spaces  # noqa: PLC0415 - slow to import

    space, unwrapped = env.observation_space, env.unwrapped
    if isinstance(space, spaces.Discrete):
        return DiscreteStates(int(space.n), int(space.start))
    if isinstance(space, spaces.Tuple) and all(
        isinstance(part, spaces.Discrete) for part in space.spaces
    ):
        parts = [part for part in space.spaces if isinstance(part, spaces.Discrete)]
        return DigitStates([int(each.n) for each in parts], [int(each.start) for each in parts])
    if isinstance(space, spaces.MultiDiscrete) and len(space.shape) == 1:
        sizes = [int(each) for each in space.nvec]
        return DigitStates(sizes, [int(each) for each in getattr(space, "start", [0] * len(sizes))])
    if hasattr(unwrapped, "grid") and hasattr(unwrapped, "agent_pos"):
        return HashedStates(unwrapped)
    raise WorkerError(
        f"{type(unwrapped).__name__} shows {type(space).__name__} observations, and a table needs"
        " states that can be counted.",
        remedy="Choose FrozenLake, CliffWalking, Taxi, Blackjack or a MiniGrid,"
        " or a worker with networks such as cleanrl_worker.",
    )


class DiscreteStates:
    """The observation is the state."""

    kind = DISCRETE
    names = None

    def __init__(self, states: int, first: int) -> None:
        self.states = _counted(states)
        self._first = first

    def number(self, name: str) -> int | None:
        return _number(name, self.states)

    def index(self, observation: Any) -> int:
        return int(observation) - self._first


class DigitStates:
    """Each part of the observation is a digit of the state."""

    kind = DIGITS
    names = None

    def __init__(self, sizes: Sequence[int], firsts: Sequence[int]) -> None:
        self._parts = tuple(zip(sizes, firsts, strict=True))
        states = 1
        for size in sizes:
            states *= size
        self.states = _counted(states)

    def number(self, name: str) -> int | None:
        return _number(name, self.states)

    def index(self, observation: Any) -> int:
        index = 0
        for (size, first), digit in zip(self._parts, observation, strict=True):
            index = index * size + int(digit) - first
        return index


class HashedStates:
    """Numbered as they are met: of a MiniGrid all that is in it, and where the agent looks."""

    kind = HASHED

    def __init__(self, unwrapped: Any) -> None:
        self._unwrapped = unwrapped
        self._numbers: dict[str, int] = {}
        self.on_new: Callable[[int], None] = lambda _: None
        """Called with how many states there are, when one more was met."""

    @property
    def states(self) -> int:
        return len(self._numbers)

    @property
    def names(self) -> list[str]:
        return list(self._numbers)

    def know(self, names: Sequence[str]) -> None:
        """States that were met before; before any is met here."""
        self._numbers = {name: number for number, name in enumerate(names)}

    def number(self, name: str) -> int:
        before = len(self._numbers)
        number = self._numbers.setdefault(name, before)
        if number == before:
            self.on_new(before + 1)
        return number

    def index(self, observation: Any) -> int:  # noqa: ARG002 - it shows a part of the state only
        return self.number(self._name())

    def known(self) -> int | None:
        """The state that the environment is in, if it was met before."""
        return self._numbers.get(self._name())

    def _name(self) -> str:
        env = self._unwrapped
        carried = env.carrying.encode() if env.carrying is not None else ()
        place = (*(int(each) for each in env.agent_pos), int(env.agent_dir), *carried)
        whole = env.grid.encode().tobytes() + repr(place).encode("ascii")
        return hashlib.blake2b(whole, digest_size=_HASH_BYTES).hexdigest()


def _number(text: str, states: int) -> int | None:
    return int(text) if text.isdecimal() and int(text) < states else None


def _counted(states: int) -> int:
    if states <= MOST_STATES:
        return states
    raise WorkerError(
        f"The environment has {states} states.",
        remedy=f"A table holds up to {MOST_STATES}; choose a worker with networks.",
    )
