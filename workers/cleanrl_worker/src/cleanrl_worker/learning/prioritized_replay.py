"""A replay buffer that draws what was badly predicted more often.

Schaul et al., "Prioritized Experience Replay", 2015.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.learning.n_step import Stretch

_COLUMNS = ("observations", "next_observations", "actions", "rewards", "discounts")
_TINY = 1e-6


class PrioritizedBatch(NamedTuple):
    """Stretches of steps, one per row."""

    observations: torch.Tensor
    next_observations: torch.Tensor
    actions: torch.Tensor
    rewards: torch.Tensor
    discounts: torch.Tensor
    weights: torch.Tensor
    """At most 1: less for what is drawn more often than it happened."""
    places: Any
    """Where they are in the buffer, for `tell_errors`."""


class SumTree:
    """Numbers with the sums of their halves, quarters and so on: drawing by size is quick."""

    def __init__(self, capacity: int) -> None:
        self._leaves = 1 << max(1, (capacity - 1).bit_length())
        self._sums = np.zeros(2 * self._leaves)

    @property
    def total(self) -> float:
        return float(self._sums[1])

    def values(self, places: Any) -> Any:
        return self._sums[places + self._leaves]

    def set(self, places: Any, values: Any) -> None:
        nodes = places + self._leaves
        self._sums[nodes] = values
        while nodes[0] > 1:
            nodes = nodes // 2
            self._sums[nodes] = self._sums[2 * nodes] + self._sums[2 * nodes + 1]

    def find(self, heights: Any) -> Any:
        """Where each height, from 0 to `total`, falls when all numbers are laid end to end."""
        nodes = np.ones(len(heights), dtype=np.int64)
        while nodes[0] < self._leaves:
            nodes = 2 * nodes
            left = self._sums[nodes]
            # A height that rounding put at the very end must not reach a number that is 0.
            goes_right = (heights >= left) & (self._sums[nodes + 1] > 0.0)
            heights = np.where(goes_right, heights - left, heights)
            nodes = nodes + goes_right
        return nodes - self._leaves


class PrioritizedReplay:
    """Keeps the newest; the oldest make room. Drawn by numpy's global generator."""

    def __init__(
        self, size: int, observation_space: Any, *, alpha: float, device: torch.device | str
    ) -> None:
        """`alpha`: how much errors count, from 0 for not at all to 1."""
        shape = (size, *observation_space.shape)
        self.observations = np.zeros(shape, dtype=np.float32)
        self.next_observations = np.zeros(shape, dtype=np.float32)
        self.actions = np.zeros(size, dtype=np.int64)
        self.rewards = np.zeros(size, dtype=np.float32)
        self.discounts = np.zeros(size, dtype=np.float32)
        self._tree = SumTree(size)
        self._alpha = alpha
        self._largest = 1.0
        self._device = torch.device(device)
        self._size = size
        self._position = 0
        self._filled = 0

    def __len__(self) -> int:
        return self._filled

    def add(self, stretch: Stretch) -> None:
        """What is new is as likely to be drawn as the worst predicted."""
        place = self._position
        self.observations[place] = stretch.observation
        self.next_observations[place] = stretch.next_observation
        self.actions[place] = stretch.action
        self.rewards[place] = stretch.rewards
        self.discounts[place] = stretch.discount
        self._tree.set(np.array([place]), self._largest)
        self._position = (place + 1) % self._size
        self._filled = max(self._filled, place + 1)

    def sample(self, batch_size: int, beta: float) -> PrioritizedBatch:
        """One from each of `batch_size` equal parts; `beta` 1: weights undo the preference."""
        heights = (np.arange(batch_size) + np.random.random(batch_size)) / batch_size
        places = self._tree.find(heights * self._tree.total)
        shares = self._tree.values(places) / self._tree.total
        weights = (self._filled * shares) ** -beta
        columns = (getattr(self, column)[places] for column in _COLUMNS)
        parts = (*columns, (weights / weights.max()).astype(np.float32))
        tensors = (torch.from_numpy(part).to(self._device) for part in parts)
        return PrioritizedBatch._make((*tensors, places))

    def tell_errors(self, places: Any, errors: Any) -> None:
        """How badly what was drawn from `places` was predicted."""
        priorities = (np.abs(errors).astype(np.float64) + _TINY) ** self._alpha
        self._tree.set(places, priorities)
        self._largest = max(self._largest, float(priorities.max()))

    @property
    def nbytes(self) -> int:
        """What `state` holds, nearly."""
        return sum(getattr(self, column)[: self._filled].nbytes for column in _COLUMNS)

    def state(self) -> dict[str, Any]:
        """The filled part, for a checkpoint: views that the next `add` may write to."""
        columns = {column: getattr(self, column)[: self._filled] for column in _COLUMNS}
        priorities = self._tree.values(np.arange(self._filled))
        own = {"position": self._position, "largest": self._largest, "priorities": priorities}
        return {**columns, **own}

    def load(self, state: Mapping[str, Any]) -> None:
        """What `state` gave, of a buffer of the same size."""
        self._filled = len(state["rewards"])
        for column in _COLUMNS:
            getattr(self, column)[: self._filled] = np.asarray(state[column])
        if self._filled:
            self._tree.set(np.arange(self._filled), np.asarray(state["priorities"]))
        self._position = int(state["position"])
        self._largest = float(state["largest"])
