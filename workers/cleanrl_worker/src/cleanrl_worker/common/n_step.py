"""N-step returns: transitions that sum the discounted rewards of several steps."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class NStepTransition(NamedTuple):
    """Consecutive steps, combined into one transition."""

    observation: Any
    action: int
    reward: float
    """The discounted sum of the steps' rewards."""
    discount: float
    """Factor of the value of `next_observation`: 0 if the episode terminated there."""
    next_observation: Any


class NStepReturns:
    """Combines the steps of several environments; episodes end with shorter transitions."""

    def __init__(self, n_step: int, num_envs: int, gamma: float) -> None:
        self._n_step = n_step
        self._gamma = gamma
        self._pending: list[deque[NStepTransition]] = [deque() for _ in range(num_envs)]

    def add(
        self,
        observations: Any,
        actions: Any,
        rewards: Any,
        terminated: Any,
        next_observations: Any,
        infos: Mapping[str, Any],
    ) -> Iterator[NStepTransition]:
        """Add one step as `SameStepVector.step` returned it; yields the completed transitions.

        The final observation of a truncated episode still has a value.
        """
        for env, pending in enumerate(self._pending):
            first = NStepTransition(observations[env].copy(), int(actions[env]), 0.0, 1.0, None)
            pending.append(first)
            is_done = bool(infos) and bool(infos["_final_obs"][env])
            next_obs = infos["final_obs"][env] if is_done else next_observations[env]
            for index, transition in enumerate(pending):
                pending[index] = transition._replace(
                    reward=transition.reward + transition.discount * float(rewards[env]),
                    discount=transition.discount * self._gamma,
                )
            while pending and (is_done or len(pending) >= self._n_step):
                completed = pending.popleft()
                discount = 0.0 if terminated[env] else completed.discount
                yield completed._replace(discount=discount, next_observation=next_obs)

    def state(self) -> list[Any]:
        """Return the incomplete transitions, for a checkpoint."""
        return [[tuple(transition) for transition in pending] for pending in self._pending]

    def load(self, state: Sequence[Any]) -> None:
        self._pending = [
            deque(
                NStepTransition(np.asarray(observation), action, reward, discount, None)
                for observation, action, reward, discount, _ in pending
            )
            for pending in state
        ]
