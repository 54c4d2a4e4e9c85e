"""Prioritized experience replay: transitions with a large error are sampled more often.

Schaul et al., "Prioritized Experience Replay", 2015.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.common.n_step import NStepTransition

_COLUMNS = ("observations", "next_observations", "actions", "rewards", "discounts")
_PRIORITY_EPS = 1e-6


class PrioritizedBatch(NamedTuple):
    """N-step transitions, one per row."""

    observations: torch.Tensor
    next_observations: torch.Tensor
    actions: torch.Tensor
    rewards: torch.Tensor
    discounts: torch.Tensor
    weights: torch.Tensor
    """Importance-sampling weights, scaled so that the largest is 1."""
    indices: Any
    """Positions in the buffer, for `update_priorities`."""


class SumTree:
    """A binary tree of sums, for sampling in proportion to priorities."""

    def __init__(self, capacity: int) -> None:
        self._leaves = 1 << max(1, (capacity - 1).bit_length())
        self._sums = np.zeros(2 * self._leaves)

    @property
    def total(self) -> float:
        return float(self._sums[1])

    def values(self, indices: Any) -> Any:
        return self._sums[indices + self._leaves]

    def set(self, indices: Any, values: Any) -> None:
        nodes = indices + self._leaves
        self._sums[nodes] = values
        while nodes[0] > 1:
            nodes = nodes // 2
            self._sums[nodes] = self._sums[2 * nodes] + self._sums[2 * nodes + 1]

    def find(self, prefix_sums: Any) -> Any:
        """Return for each prefix sum, from 0 to `total`, the leaf that it falls into."""
        nodes = np.ones(len(prefix_sums), dtype=np.int64)
        while nodes[0] < self._leaves:
            nodes = 2 * nodes
            left = self._sums[nodes]
            # A prefix sum that rounding moved to the very end must not reach a leaf that is 0.
            is_right = (prefix_sums >= left) & (self._sums[nodes + 1] > 0.0)
            prefix_sums = np.where(is_right, prefix_sums - left, prefix_sums)
            nodes = nodes + is_right
        return nodes - self._leaves


class PrioritizedReplay:
    """A ring of the newest transitions, sampled with numpy's global generator."""

    def __init__(
        self, size: int, observation_space: Any, *, alpha: float, device: torch.device | str
    ) -> None:
        """`alpha` is the exponent of the priorities: 0 is uniform sampling."""
        shape = (size, *observation_space.shape)
        self.observations = np.zeros(shape, dtype=np.float32)
        self.next_observations = np.zeros(shape, dtype=np.float32)
        self.actions = np.zeros(size, dtype=np.int64)
        self.rewards = np.zeros(size, dtype=np.float32)
        self.discounts = np.zeros(size, dtype=np.float32)
        self._tree = SumTree(size)
        self._alpha = alpha
        self._max_priority = 1.0
        self._device = torch.device(device)
        self._size = size
        self._position = 0
        self._filled = 0

    def __len__(self) -> int:
        return self._filled

    def add(self, transition: NStepTransition) -> None:
        """Add a transition with the largest priority so far."""
        index = self._position
        self.observations[index] = transition.observation
        self.next_observations[index] = transition.next_observation
        self.actions[index] = transition.action
        self.rewards[index] = transition.reward
        self.discounts[index] = transition.discount
        self._tree.set(np.array([index]), self._max_priority)
        self._position = (index + 1) % self._size
        self._filled = max(self._filled, index + 1)

    def sample(self, batch_size: int, beta: float) -> PrioritizedBatch:
        """Sample one from each of `batch_size` equal segments of the priorities.

        `beta` is the exponent of the importance-sampling weights; 1 corrects the bias fully.
        """
        prefix_sums = (np.arange(batch_size) + np.random.random(batch_size)) / batch_size
        indices = self._tree.find(prefix_sums * self._tree.total)
        probabilities = self._tree.values(indices) / self._tree.total
        weights = (self._filled * probabilities) ** -beta
        columns = (getattr(self, column)[indices] for column in _COLUMNS)
        arrays = (*columns, (weights / weights.max()).astype(np.float32))
        tensors = (torch.from_numpy(array).to(self._device) for array in arrays)
        return PrioritizedBatch._make((*tensors, indices))

    def update_priorities(self, indices: Any, errors: Any) -> None:
        """Set the priorities of sampled transitions from their errors."""
        priorities = (np.abs(errors).astype(np.float64) + _PRIORITY_EPS) ** self._alpha
        self._tree.set(indices, priorities)
        self._max_priority = max(self._max_priority, float(priorities.max()))

    @property
    def nbytes(self) -> int:
        """The approximate size of `state`."""
        return sum(getattr(self, column)[: self._filled].nbytes for column in _COLUMNS)

    def state(self) -> dict[str, Any]:
        """Return the filled part, for a checkpoint: views that the next `add` may overwrite."""
        columns = {column: getattr(self, column)[: self._filled] for column in _COLUMNS}
        priorities = self._tree.values(np.arange(self._filled))
        extra = {
            "position": self._position,
            "largest": self._max_priority,
            "priorities": priorities,
        }
        return {**columns, **extra}

    def load(self, state: Mapping[str, Any]) -> None:
        """Load the `state` of a buffer of the same size."""
        self._filled = len(state["rewards"])
        for column in _COLUMNS:
            getattr(self, column)[: self._filled] = np.asarray(state[column])
        if self._filled:
            self._tree.set(np.arange(self._filled), np.asarray(state["priorities"]))
        self._position = int(state["position"])
        self._max_priority = float(state["largest"])
