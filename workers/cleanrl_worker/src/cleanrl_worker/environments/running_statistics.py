"""Observations and rewards brought to a common scale while learning, as continuous control needs.

The statistics are part of a checkpoint: a policy acts on observations scaled as it has learnt them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_LIMIT = 10.0
_TINY = 1e-8


class RunningMoments:
    """Mean and variance of all that was seen, updated by batches."""

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.mean = np.zeros(shape)
        self.variance = np.ones(shape)
        self.count = 1e-4

    def update(self, batch: Any) -> None:
        count = len(batch)
        total = self.count + count
        # Of a single row numpy's own mean and variance would take most of the time.
        mean, variance = (batch[0], 0.0) if count == 1 else (batch.mean(axis=0), batch.var(axis=0))
        delta = mean - self.mean
        spread = self.variance * self.count + variance * count
        self.variance = (spread + delta**2 * self.count * count / total) / total
        self.mean = self.mean + delta * count / total
        self.count = total

    def state(self) -> dict[str, Any]:
        return {"mean": self.mean, "variance": self.variance, "count": self.count}

    def load(self, state: dict[str, Any]) -> None:
        self.mean = np.asarray(state["mean"], dtype=np.float64)
        self.variance = np.asarray(state["variance"], dtype=np.float64)
        self.count = float(state["count"])


class ObservationScaling:
    """Observations with mean 0 and variance 1, within -10 and 10."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.moments = RunningMoments(shape)

    def learn(self, observations: Any) -> Any:
        """Take a batch into account, and scale it."""
        self.moments.update(observations)
        return self.scale(observations)

    def scale(self, observations: Any) -> Any:
        scaled = (observations - self.moments.mean) / np.sqrt(self.moments.variance + _TINY)
        return np.clip(scaled, -_LIMIT, _LIMIT).astype(np.float32)


class RewardScaling:
    """Rewards divided by the spread of the discounted return so far, within -10 and 10."""

    def __init__(self, num_envs: int, gamma: float) -> None:
        self.moments = RunningMoments()
        self.returns = np.zeros(num_envs)
        self._gamma = gamma

    def learn(self, rewards: Any, ended: Any) -> Any:
        """The return of an episode that has `ended` with this step does not reach the next one."""
        self.returns = self.returns * self._gamma + rewards
        self.moments.update(self.returns)
        self.returns[ended] = 0.0
        return np.clip(rewards / np.sqrt(self.moments.variance + _TINY), -_LIMIT, _LIMIT)
