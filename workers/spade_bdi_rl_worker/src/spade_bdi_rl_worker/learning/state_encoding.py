"""State encodings: map an environment's observations to row indices of the table.

| observations | index |
|---|---|
| `Discrete` | the number itself |
| `Tuple` of `Discrete` (Blackjack), `MultiDiscrete` | mixed-radix number of all components |
| MiniGrid | numbered in the order of visits, by a hash of the complete grid |
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Protocol

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DISCRETE, DIGITS, HASHED = "discrete", "digits", "hashed"
MAX_STATES = 5_000_000
_HASH_BYTES = 8


class StateEncoding(Protocol):
    """The encoding of one environment."""

    kind: str

    @property
    def states(self) -> int:
        """Number of states, or of those known so far."""

    @property
    def names(self) -> list[str] | None:
        """Names of states that are numbered by visits, in that order; otherwise None."""

    def index_of_name(self, name: str) -> int | None:
        """Return the index of a state by name: as in `names`, or its index as text."""

    def index(self, observation: Any) -> int:
        """Return the index of the environment's current state, observed as `observation`."""


def make_tabular_encoding(env: Any) -> StateEncoding:
    """Return the encoding; `WorkerError` if states or actions do not fit a table."""
    from gymnasium import spaces  # noqa: PLC0415 - slow to import

    if not isinstance(env.action_space, spaces.Discrete):
        raise WorkerError(
            f"{type(env.unwrapped).__name__} has no discrete action space.",
            remedy="Choose FrozenLake, CliffWalking, Taxi, Blackjack or a MiniGrid.",
        )
    return make_state_encoding(env)


def make_state_encoding(env: Any) -> StateEncoding:
    """Return the encoding; `WorkerError` if the observations cannot index a table."""
    from gymnasium import spaces  # noqa: PLC0415 - slow to import

    space, unwrapped = env.observation_space, env.unwrapped
    if isinstance(space, spaces.Discrete):
        return DiscreteStates(int(space.n), int(space.start))
    if isinstance(space, spaces.Tuple) and all(
        isinstance(part, spaces.Discrete) for part in space.spaces
    ):
        parts = [part for part in space.spaces if isinstance(part, spaces.Discrete)]
        return DigitStates([int(part.n) for part in parts], [int(part.start) for part in parts])
    if isinstance(space, spaces.MultiDiscrete) and len(space.shape) == 1:
        sizes = [int(size) for size in space.nvec]
        starts = getattr(space, "start", [0] * len(sizes))
        return DigitStates(sizes, [int(start) for start in starts])
    if hasattr(unwrapped, "grid") and hasattr(unwrapped, "agent_pos"):
        return HashedStates(unwrapped)
    raise WorkerError(
        f"{type(unwrapped).__name__} has {type(space).__name__} observations, and a table needs"
        " discrete states.",
        remedy="Choose FrozenLake, CliffWalking, Taxi, Blackjack or a MiniGrid,"
        " or a worker with neural networks such as cleanrl_worker.",
    )


class DiscreteStates:
    """The observation is the state index."""

    kind = DISCRETE
    names = None

    def __init__(self, states: int, first: int) -> None:
        self.states = _check_state_count(states)
        self._first = first

    def index_of_name(self, name: str) -> int | None:
        return _parse_index(name, self.states)

    def index(self, observation: Any) -> int:
        return int(observation) - self._first


class DigitStates:
    """Each component of the observation is a digit of a mixed-radix state index."""

    kind = DIGITS
    names = None

    def __init__(self, sizes: Sequence[int], firsts: Sequence[int]) -> None:
        self._components = tuple(zip(sizes, firsts, strict=True))
        states = 1
        for size in sizes:
            states *= size
        self.states = _check_state_count(states)

    def index_of_name(self, name: str) -> int | None:
        return _parse_index(name, self.states)

    def index(self, observation: Any) -> int:
        index = 0
        for (size, first), digit in zip(self._components, observation, strict=True):
            index = index * size + int(digit) - first
        return index


class HashedStates:
    """States of a MiniGrid (grid, position, direction), numbered in the order of visits."""

    kind = HASHED

    def __init__(self, unwrapped: Any) -> None:
        self._unwrapped = unwrapped
        self._indices: dict[str, int] = {}
        self.on_growth: Callable[[int], None] = lambda _: None
        """Called with the number of states when it grows."""

    @property
    def states(self) -> int:
        return len(self._indices)

    @property
    def names(self) -> list[str]:
        return list(self._indices)

    def load_names(self, names: Sequence[str]) -> None:
        """Load the states of a checkpoint. Call it before the first `index`."""
        self._indices = {name: index for index, name in enumerate(names)}

    def index_of_name(self, name: str) -> int:
        count = len(self._indices)
        index = self._indices.setdefault(name, count)
        if index == count:
            self.on_growth(count + 1)
        return index

    def index(self, observation: Any) -> int:  # noqa: ARG002 - a partial view of the state
        return self.index_of_name(self._name())

    def known_index(self) -> int | None:
        """Return the index of the current state; None if it is new."""
        return self._indices.get(self._name())

    def _name(self) -> str:
        env = self._unwrapped
        carried = env.carrying.encode() if env.carrying is not None else ()
        agent = (*map(int, env.agent_pos), int(env.agent_dir), *carried)
        content = env.grid.encode().tobytes() + repr(agent).encode("ascii")
        return hashlib.blake2b(content, digest_size=_HASH_BYTES).hexdigest()


def _parse_index(text: str, states: int) -> int | None:
    return int(text) if text.isdecimal() and int(text) < states else None


def _check_state_count(states: int) -> int:
    if states <= MAX_STATES:
        return states
    raise WorkerError(
        f"The environment has {states} states, which is too many for a table.",
        remedy=f"The maximum is {MAX_STATES}; choose a worker with neural networks.",
    )
