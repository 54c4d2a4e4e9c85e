"""The replay buffer of off-policy learners, and how many updates are due after a step.

At the end of an episode `next_observations` holds its final observation, not the first one of the
next episode. Only `terminated` stops bootstrapping; truncated episodes are bootstrapped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Mapping

_IMAGE_AXES = 3
_COLUMNS = ("observations", "next_observations", "actions", "rewards", "terminated")


def count_due(step: int, num_steps: int, frequency: int) -> int:
    """Return how many multiples of `frequency` are within the last `num_steps`, up to `step`."""
    return step // frequency - (step - num_steps) // frequency


class ReplayBatch(NamedTuple):
    """Transitions, one per row. Observations are float32, or bytes if they are images."""

    observations: torch.Tensor
    next_observations: torch.Tensor
    actions: torch.Tensor
    """An integer each, or a row of float32."""
    rewards: torch.Tensor
    terminated: torch.Tensor
    """1.0 if the episode terminated with the step, else 0.0."""


class ReplayBuffer:
    """A ring of the newest transitions, sampled with numpy's global generator."""

    def __init__(
        self,
        size: int,
        num_envs: int,
        observation_space: Any,
        action_space: Any,
        device: torch.device | str = "cpu",
    ) -> None:
        """Hold `size` transitions of `num_envs` environments in total; batches are on `device`.

        Memory is allocated as the buffer fills.
        """
        capacity = max(size // num_envs, 1) * num_envs
        is_image = (
            observation_space.dtype == np.uint8 and len(observation_space.shape) >= _IMAGE_AXES
        )
        dtype = np.uint8 if is_image else np.float32
        shape = (capacity, *observation_space.shape)
        # Not `zeros_like`, which writes the zeros and so allocates all memory at once.
        self.observations = np.zeros(shape, dtype=dtype)
        self.next_observations = np.zeros(shape, dtype=dtype)
        if isinstance(action_space, spaces.Discrete):
            self.actions = np.zeros(capacity, dtype=np.int64)
        else:
            self.actions = np.zeros((capacity, int(np.prod(action_space.shape))), dtype=np.float32)
        self.rewards = np.zeros(capacity, dtype=np.float32)
        self.terminated = np.zeros(capacity, dtype=np.float32)
        self._num_envs = num_envs
        self._capacity = capacity
        self._device = torch.device(device)
        self._position = 0
        self._filled = 0

    def __len__(self) -> int:
        return self._filled

    def add(
        self,
        observations: Any,
        actions: Any,
        rewards: Any,
        terminated: Any,
        next_observations: Any,
        infos: Mapping[str, Any],
    ) -> None:
        """Add one step of all environments, as `SameStepVector.step` returned it."""
        start, end = self._position, self._position + self._num_envs
        self.observations[start:end] = observations
        self.next_observations[start:end] = next_observations
        if infos:
            for index in np.flatnonzero(infos["_final_obs"]):
                self.next_observations[start + index] = infos["final_obs"][index]
        self.actions[start:end] = actions.reshape(self._num_envs, *self.actions.shape[1:])
        self.rewards[start:end] = rewards
        self.terminated[start:end] = terminated
        self._filled = max(self._filled, end)
        self._position = end % self._capacity

    def sample(self, batch_size: int) -> ReplayBatch:
        """Sample uniformly, with replacement."""
        indices = np.random.randint(0, self._filled, size=batch_size)
        return self.get_batch(indices)

    def get_batch(self, indices: Any) -> ReplayBatch:
        return ReplayBatch(
            *(
                torch.from_numpy(getattr(self, column).take(indices, axis=0)).to(self._device)
                for column in _COLUMNS
            )
        )

    @property
    def nbytes(self) -> int:
        """The size of `state`."""
        return sum(getattr(self, column)[: self._filled].nbytes for column in _COLUMNS)

    def state(self) -> dict[str, Any]:
        """Return the filled part, for a checkpoint: views that the next `add` may overwrite."""
        columns = {column: getattr(self, column)[: self._filled] for column in _COLUMNS}
        return {**columns, "position": self._position}

    def load(self, state: Mapping[str, Any]) -> None:
        """Load the `state` of a buffer of the same size."""
        self._filled = len(state["rewards"])
        for column in _COLUMNS:
            getattr(self, column)[: self._filled] = np.asarray(state[column])
        self._position = int(state["position"])
