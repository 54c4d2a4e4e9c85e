"""The transition table that some environments publish as `P`, prepared for fast simulation.

FrozenLake, CliffWalking and Taxi list in `P[state][action]` the possible transitions
(probability, next state, reward, terminated), and in `initial_state_distrib` the probabilities of
first states. The environments and this module sample both with one uniform random number each.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.value_copies import NotPlainError, copy_info
from mosaic_worker.scalars import to_number
from spade_bdi_rl_worker.learning.random_stream import RandomStream, is_supported_generator

if TYPE_CHECKING:
    from random import Random

_CHECK_EPISODES = 20
_MAX_CHECK_STEPS = 60


class Transition(NamedTuple):
    """One possible result of an action."""

    state: int
    reward: float
    terminated: bool
    info: dict[str, Any]


class TransitionDistribution(NamedTuple):
    """Possible transitions with cumulative probabilities."""

    thresholds: list[float]
    transitions: list[Transition]


class TransitionTable:
    """The dynamics of one environment; `distributions[state * n_actions + action]`.

    `deterministic` has the transition itself where only one is possible, and None elsewhere.
    """

    def __init__(self, unwrapped: Any) -> None:
        """A malformed table raises various exceptions, which `read_transition_table` catches."""
        self.n_states = int(unwrapped.observation_space.n)
        self.n_actions = int(unwrapped.action_space.n)
        action_mask = getattr(unwrapped, "action_mask", None)
        masks = [
            action_mask(state).tolist() if action_mask else None for state in range(self.n_states)
        ]
        self.distributions = [
            _make_distribution(unwrapped.P[state][action], masks)
            for state in range(self.n_states)
            for action in range(self.n_actions)
        ]
        self.deterministic = [
            distribution.transitions[0] if len(distribution.transitions) == 1 else None
            for distribution in self.distributions
        ]
        self.initial_thresholds = _cumulative(unwrapped.initial_state_distrib)
        self.initial_infos = [_make_info(1, mask) for mask in masks]

    def reachable_states(self) -> list[int]:
        """Return the reachable non-terminal states, which are those that can be learned."""
        before = [0.0, *self.initial_thresholds[:-1]]
        probabilities = [
            high - low for high, low in zip(self.initial_thresholds, before, strict=True)
        ]
        pending = [state for state, probability in enumerate(probabilities) if probability > 0]
        reachable = set(pending)
        while pending:
            start = pending.pop() * self.n_actions
            for distribution in self.distributions[start : start + self.n_actions]:
                for transition in distribution.transitions:
                    if not transition.terminated and transition.state not in reachable:
                        reachable.add(transition.state)
                        pending.append(transition.state)
        return sorted(reachable)


def read_transition_table(env: Any, rng: Random) -> TransitionTable | None:
    """Return the table of `env`; None if it has none or does not follow it.

    Some episodes are played to compare every observation, reward, flag, info and the use of random
    numbers. The environment is left in the state after these episodes.
    """
    unwrapped = env.unwrapped
    if not isinstance(getattr(unwrapped, "P", None), dict):
        return None
    try:
        table = TransitionTable(unwrapped)
    except (TypeError, ValueError, KeyError, AttributeError, WorkerError, NotPlainError):
        return None
    unwrapped.reset(seed=rng.getrandbits(31))
    if not is_supported_generator(unwrapped.np_random):
        return None
    return table if _matches_environment(table, unwrapped, rng) else None


def _matches_environment(table: TransitionTable, unwrapped: Any, rng: Random) -> bool:
    generator = unwrapped.np_random
    copy = type(generator)(type(generator.bit_generator)())
    for _ in range(_CHECK_EPISODES):
        copy.bit_generator.state = generator.bit_generator.state
        stream = RandomStream(copy)
        state, info = unwrapped.reset()
        if (
            state != sample_index(table.initial_thresholds, stream.draw())
            or copy_info(info) != table.initial_infos[state]
        ):
            return False
        for _ in range(_MAX_CHECK_STEPS):
            action = rng.randrange(table.n_actions)
            thresholds, transitions = table.distributions[state * table.n_actions + action]
            expected = transitions[sample_index(thresholds, stream.draw())]
            state, reward, terminated, truncated, info = unwrapped.step(action)
            actual = (state, reward, terminated, copy_info(info))
            if actual != tuple(expected) or truncated:
                return False
            if terminated:
                break
        stream.sync_generator()
        if copy.bit_generator.state != generator.bit_generator.state:
            return False
    return True


def sample_index(thresholds: list[float], uniform: float) -> int:
    """Return the first index whose threshold is above the number; 0 if there is none."""
    index = bisect_right(thresholds, uniform)
    return index if index < len(thresholds) else 0


def _make_distribution(listed: Any, masks: list[Any]) -> TransitionDistribution:
    transitions = [
        Transition(
            int(state),
            to_number("reward", reward),
            bool(terminated),
            _make_info(probability, masks[int(state)]),
        )
        for probability, state, reward, terminated in listed
    ]
    return TransitionDistribution(_cumulative([entry[0] for entry in listed]), transitions)


def _cumulative(probabilities: Any) -> list[float]:
    """Sum up in the same way as the environments, so that rounding is the same."""
    sums: list[float] = np.cumsum(np.asarray(probabilities)).tolist()
    return sums


def _make_info(probability: Any, mask: Any) -> dict[str, Any]:
    """Return the `info` of these environments: the transition's probability, and action masks."""
    info = {"prob": to_number("prob", probability)}
    return info if mask is None else {**info, "action_mask": mask}
