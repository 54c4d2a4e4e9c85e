"""Past transitions of several environments, from which off-policy learners draw batches.

At the end of an episode the next observation is the last one of that episode, not the first one of
the next, and only `terminated` says that nothing follows: a truncated episode has a future.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Mapping

_PICTURE_AXES = 3
_COLUMNS = ("observations", "next_observations", "actions", "rewards", "terminated")


class Batch(NamedTuple):
    """Transitions, one per row. Observations are float32, or bytes where they are pictures."""

    observations: torch.Tensor
    next_observations: torch.Tensor
    actions: torch.Tensor
    """A whole number each, or a row of float32."""
    rewards: torch.Tensor
    terminated: torch.Tensor
    """1.0 where no future follows, 0.0 elsewhere."""


class ReplayBuffer:
    """Keeps the newest transitions; the oldest make room. Drawn by numpy's global generator."""

    def __init__(
        self,
        size: int,
        num_envs: int,
        observation_space: Any,
        action_space: Any,
        device: torch.device | str = "cpu",
    ) -> None:
        """`size` transitions of `num_envs` environments together; batches come to `device`.

        Memory is taken as it is filled.
        """
        capacity = max(size // num_envs, 1) * num_envs
        is_picture = (
            observation_space.dtype == np.uint8 and len(observation_space.shape) >= _PICTURE_AXES
        )
        seen = np.uint8 if is_picture else np.float32
        shape = (capacity, *observation_space.shape)
        # Not `zeros_like`, which writes the zeros: that would take all memory at once.
        self.observations = np.zeros(shape, dtype=seen)
        self.next_observations = np.zeros(shape, dtype=seen)
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
        """One step of all environments, as `SameStepVector.step` returned it."""
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

    def sample(self, batch_size: int) -> Batch:
        """Drawn with replacement; each transition is as likely as any other."""
        rows = np.random.randint(0, self._filled, size=batch_size)
        return self.rows(rows)

    def rows(self, rows: Any) -> Batch:
        """Those of the given indices."""
        return Batch(
            *(
                torch.from_numpy(getattr(self, column).take(rows, axis=0)).to(self._device)
                for column in _COLUMNS
            )
        )

    @property
    def nbytes(self) -> int:
        """What `state` holds."""
        return sum(getattr(self, column)[: self._filled].nbytes for column in _COLUMNS)

    def state(self) -> dict[str, Any]:
        """The filled part, for a checkpoint: views that the next `add` may write to."""
        columns = {column: getattr(self, column)[: self._filled] for column in _COLUMNS}
        return {**columns, "position": self._position}

    def load(self, state: Mapping[str, Any]) -> None:
        """What `state` gave, of a buffer of the same size."""
        self._filled = len(state["rewards"])
        for column in _COLUMNS:
            getattr(self, column)[: self._filled] = np.asarray(state[column])
        self._position = int(state["position"])
