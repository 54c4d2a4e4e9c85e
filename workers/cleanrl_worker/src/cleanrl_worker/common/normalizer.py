"""Running normalization of observations and rewards, for continuous control.

The observation statistics are part of the policy (`normalization` of a checkpoint): a policy acts
on observations scaled as in training. The reward statistics are part of the training state only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

_CLIP = 10.0
_EPSILON = 1e-8


class RunningMeanStd:
    """Mean and variance of all samples so far, updated by batches."""

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.mean = np.zeros(shape)
        self.var = np.ones(shape)
        self.count = 1e-4

    def update(self, batch: Any) -> None:
        batch_count = len(batch)
        total = self.count + batch_count
        # For a single row, numpy's mean and var would take most of the time.
        batch_mean, batch_var = (
            (batch[0], 0.0) if batch_count == 1 else (batch.mean(axis=0), batch.var(axis=0))
        )
        delta = batch_mean - self.mean
        m2 = self.var * self.count + batch_var * batch_count
        self.var = (m2 + delta**2 * self.count * batch_count / total) / total
        self.mean = self.mean + delta * batch_count / total
        self.count = total

    def state(self) -> dict[str, Any]:
        return {"mean": self.mean, "variance": self.var, "count": self.count}

    def load(self, state: dict[str, Any]) -> None:
        self.mean = np.asarray(state["mean"], dtype=np.float64)
        self.var = np.asarray(state["variance"], dtype=np.float64)
        self.count = float(state["count"])


class ObservationNormalizer:
    """Scales observations to mean 0 and variance 1, clipped to [-10, 10]."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.rms = RunningMeanStd(shape)

    def update(self, observations: Any) -> Any:
        """Include a batch in the statistics and return it normalized."""
        self.rms.update(observations)
        return self.normalize(observations)

    def normalize(self, observations: Any) -> Any:
        scaled = (observations - self.rms.mean) / np.sqrt(self.rms.var + _EPSILON)
        return np.clip(scaled, -_CLIP, _CLIP).astype(np.float32)


class RewardNormalizer:
    """Divides rewards by the deviation of the discounted return, clipped to [-10, 10]."""

    def __init__(self, num_envs: int, gamma: float) -> None:
        self.rms = RunningMeanStd()
        self.returns = np.zeros(num_envs)
        self._gamma = gamma

    def update(self, rewards: Any, dones: Any) -> Any:
        """Include a step in the statistics and return its rewards normalized.

        The discounted return starts at 0 after an episode that is done with this step.
        """
        self.returns = self.returns * self._gamma + rewards
        self.rms.update(self.returns)
        self.returns[dones] = 0.0
        return np.clip(rewards / np.sqrt(self.rms.var + _EPSILON), -_CLIP, _CLIP)


class Normalizer:
    """Normalizes observations and rewards of a session; continues a checkpoint's statistics."""

    def __init__(
        self, session: TrainingSession, num_envs: int, shape: tuple[int, ...], gamma: float
    ) -> None:
        self.observations = ObservationNormalizer(shape)
        self.rewards = RewardNormalizer(num_envs, gamma)
        self._session = session
        if session.warm_start:
            self.observations.rms.load(session.warm_start.normalization["observations"])
        if session.resumed:
            self.rewards.rms.load(session.resumed.training["rewards"]["moments"])

    def normalize_initial(self, observations: Any) -> Any:
        """Normalize the result of `TrainingSession.initial_observations`.

        If the episodes of a checkpoint continue, its statistics include these observations
        already, and the returns so far continue, too.
        """
        resumed = self._session.resumed
        if resumed is None or not self._session.has_restored_envs:
            return self.observations.update(observations)
        returns = resumed.training["rewards"]["returns"]
        self.rewards.returns = np.asarray(returns, dtype=np.float64)
        return self.observations.normalize(observations)

    def normalization(self) -> dict[str, Any]:
        return {"observations": self.observations.rms.state()}

    def training(self) -> dict[str, Any]:
        return {"moments": self.rewards.rms.state(), "returns": self.rewards.returns}


def load_observation_normalizer(checkpoint: TrainingCheckpoint) -> ObservationNormalizer:
    saved = checkpoint.normalization["observations"]
    normalizer = ObservationNormalizer(tuple(saved["mean"].shape))
    normalizer.rms.load(saved)
    return normalizer
