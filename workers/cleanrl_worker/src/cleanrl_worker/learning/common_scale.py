"""Observations and rewards as a learner of continuous control sees them, and their statistics.

The observations' are part of the policy (`normalization` of a checkpoint), the rewards' of the
training only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cleanrl_worker.environments.running_statistics import ObservationScaling, RewardScaling

if TYPE_CHECKING:
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session


class CommonScale:
    """Of the environments of a session; begins where its checkpoint ended."""

    def __init__(
        self, session: Session, num_envs: int, shape: tuple[int, ...], gamma: float
    ) -> None:
        self.observations = ObservationScaling(shape)
        self.rewards = RewardScaling(num_envs, gamma)
        self._session = session
        if session.warm:
            self.observations.moments.load(session.warm.normalization["observations"])
        if session.resumed:
            self.rewards.moments.load(session.resumed.training["rewards"]["moments"])

    def first(self, observations: Any) -> Any:
        """Scale what `Session.first_observations` gave.

        Where the episodes of a checkpoint go on, it has seen these observations already, and their
        returns so far go on as well.
        """
        resumed = self._session.resumed
        if resumed is None or not self._session.came_back:
            return self.observations.learn(observations)
        returns = resumed.training["rewards"]["returns"]
        self.rewards.returns = np.asarray(returns, dtype=np.float64)
        return self.observations.scale(observations)

    def normalization(self) -> dict[str, Any]:
        return {"observations": self.observations.moments.state()}

    def training(self) -> dict[str, Any]:
        return {"moments": self.rewards.moments.state(), "returns": self.rewards.returns}


def observation_scaling(checkpoint: Checkpoint) -> ObservationScaling:
    """How a trained policy wants its observations."""
    saved = checkpoint.normalization["observations"]
    scaling = ObservationScaling(tuple(saved["mean"].shape))
    scaling.moments.load(saved)
    return scaling
