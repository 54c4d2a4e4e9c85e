"""Rewards of several steps taken together, so that what they lead to is learnt of sooner."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Stretch(NamedTuple):
    """Some steps that follow each other, seen as one."""

    observation: Any
    action: int
    rewards: float
    """Discounted, and added up."""
    discount: float
    """What the value of `next_observation` counts: 0 when the episode has ended there."""
    next_observation: Any


class NStepRewards:
    """Of several environments; an episode's last stretches are shorter than `steps`."""

    def __init__(self, steps: int, num_envs: int, gamma: float) -> None:
        self._steps = steps
        self._gamma = gamma
        self._open: list[deque[Stretch]] = [deque() for _ in range(num_envs)]

    def add(
        self,
        observations: Any,
        actions: Any,
        rewards: Any,
        terminated: Any,
        next_observations: Any,
        infos: Mapping[str, Any],
    ) -> Iterator[Stretch]:
        """One step, as `SameStepVector.step` returned it; gives the stretches that it completes.

        After a truncated episode its last observation still has a value.
        """
        for env, pending in enumerate(self._open):
            pending.append(Stretch(observations[env].copy(), int(actions[env]), 0.0, 1.0, None))
            has_ended = bool(infos) and bool(infos["_final_obs"][env])
            following = infos["final_obs"][env] if has_ended else next_observations[env]
            for index, each in enumerate(pending):
                pending[index] = each._replace(
                    rewards=each.rewards + each.discount * float(rewards[env]),
                    discount=each.discount * self._gamma,
                )
            while pending and (has_ended or len(pending) >= self._steps):
                done = pending.popleft()
                discount = 0.0 if terminated[env] else done.discount
                yield done._replace(discount=discount, next_observation=following)

    def state(self) -> list[Any]:
        """For a checkpoint."""
        return [[tuple(each) for each in pending] for pending in self._open]

    def load(self, state: Sequence[Any]) -> None:
        self._open = [
            deque(
                Stretch(np.asarray(observation), action, rewards, discount, None)
                for observation, action, rewards, discount, _ in pending
            )
            for pending in state
        ]
