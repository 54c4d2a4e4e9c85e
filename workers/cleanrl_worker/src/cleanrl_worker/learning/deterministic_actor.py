"""An actor with one action per observation, and noise around it to explore. For TD3 and DDPG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.learning.action_bounds import ActionBounds, ScaledActions
from cleanrl_worker.learning.continuous_policy import ContinuousPolicy, bounds_of
from cleanrl_worker.learning.numpy_mlp import NumpyMlp

if TYPE_CHECKING:
    from cleanrl_worker.session.checkpoint_file import Checkpoint


class DeterministicActor(nn.Module):
    """Its actions are squashed into the bounds."""

    def __init__(self, observation_size: int, bounds: ActionBounds) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(observation_size, 256),
            nn.ReLU(),
            nn.Linear(256, 256),
            nn.ReLU(),
            nn.Linear(256, bounds.size),
            nn.Tanh(),
        )
        self.scaled = ScaledActions(bounds)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.scaled(self.network(observations))  # type: ignore[no-any-return]


class ActsWithNoise:
    """The actor on the way through an environment, in numpy."""

    def __init__(self, actor: DeterministicActor, bounds: ActionBounds, noise: float) -> None:
        """`noise` is the deviation of what is added, as a share of half the bounds' distance."""
        self._network = NumpyMlp(actor.network)
        self._bounds = bounds
        self._noise = noise

    def __call__(self, observations: Any) -> Any:
        """Rows of observations to rows of actions."""
        self._network.refresh()
        answers = self._network(np.asarray(observations, dtype=np.float32))
        if self._noise:
            drawn = np.random.standard_normal(answers.shape).astype(np.float32)
            answers = answers + self._noise * drawn
        return self._bounds.scaled(answers)


def deterministic_policy(checkpoint: Checkpoint, noise: float) -> ContinuousPolicy:
    """The actor in a checkpoint, with `noise` around its actions."""
    bounds = bounds_of(checkpoint)
    actor = DeterministicActor(checkpoint.policy["network.0.weight"].shape[1], bounds)
    actor.load_state_dict(checkpoint.policy)
    return ContinuousPolicy(ActsWithNoise(actor, bounds, noise), checkpoint.action_space)
