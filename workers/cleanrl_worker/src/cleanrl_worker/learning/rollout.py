"""What happened in a few steps of several environments: what an on-policy learner learns from.

It also keeps the last observations of episodes that were cut off by a time limit: these would have
gone on, so the value of where they were cut belongs to their last reward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cleanrl_worker.learning.advantages import estimate_advantages

if TYPE_CHECKING:
    from collections.abc import Callable


class Rollout:
    """Arrays [steps, environments, …] that are written anew each time."""

    def __init__(
        self,
        num_steps: int,
        num_envs: int,
        *,
        observation: tuple[tuple[int, ...], Any],
        action: tuple[tuple[int, ...], Any],
    ) -> None:
        """`observation` and `action` are a shape and a type each."""
        size = (num_steps, num_envs)
        self.observations = np.zeros((num_steps + 1, num_envs, *observation[0]), observation[1])
        """One row more than the others: where the next rollout begins."""
        self.actions = np.zeros((*size, *action[0]), action[1])
        self.rewards = np.zeros(size, np.float32)
        self.ended = np.zeros(size, np.bool_)
        """Whether an episode ended with the step."""
        self._cut: list[tuple[int, int, Any]] = []

    def add(
        self,
        step: int,
        rewards: Any,
        terminated: Any,
        truncated: Any,
        infos: dict[str, Any],
    ) -> None:
        """What `SameStepVector.step` returned, but for the observations."""
        if step == 0:
            self._cut.clear()
        self.rewards[step] = rewards
        np.logical_or(terminated, truncated, out=self.ended[step])
        if infos:
            for index in np.flatnonzero(truncated & ~terminated):
                self._cut.append((step, int(index), infos["final_obs"][index]))

    def judge(
        self,
        value_of: Callable[[Any], Any],
        *,
        gamma: float,
        gae_lambda: float,
        values: Any = None,
        present: Callable[[Any], Any] | None = None,
    ) -> tuple[Any, Any, Any]:
        """The advantages, returns and values of all steps.

        `value_of` takes observations [rows, …] and returns an array [rows]. `values` are those of
        all observations here, where they are known. `present` brings last observations, as the
        environment told them, into the form in which they are stored here.
        """
        if values is None:
            count, num_envs, *shape = self.observations.shape
            flat = self.observations.reshape(count * num_envs, *shape)
            values = value_of(flat).reshape(count, num_envs)
        rewards = self.rewards
        if self._cut:
            rewards = rewards.copy()
            steps, indices, last = zip(*self._cut, strict=True)
            batch = np.stack(last)
            batch = (present(batch) if present else batch).astype(self.observations.dtype)
            rewards[list(steps), list(indices)] += gamma * value_of(batch)
        advantages = estimate_advantages(
            rewards, values, self.ended, gamma=gamma, gae_lambda=gae_lambda
        )
        return advantages, advantages + values[:-1], values[:-1]
