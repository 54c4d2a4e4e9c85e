"""Bounded continuous actions of off-policy learners: scaling, deterministic actor, policies.

Networks output actions in [-1, 1]; environments expect their own bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.common.numpy_mlp import NumpyMlp
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cleanrl_worker.session.checkpoint import TrainingCheckpoint


class ActionBounds:
    """The finite bounds of a Box action space. Actions are rows, one per environment."""

    def __init__(self, low: Any, high: Any) -> None:
        """Raises `WorkerError` if a bound is infinite."""
        self.low = np.asarray(low, dtype=np.float32).reshape(-1)
        self.high = np.asarray(high, dtype=np.float32).reshape(-1)
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise WorkerError(
                "The action space has infinite bounds; this algorithm requires finite bounds.",
                remedy="Choose ppo_continuous_action, or an environment with bounded actions.",
            )
        self.size = self.low.size
        self.action_scale = (self.high - self.low) / 2
        self.action_bias = (self.high + self.low) / 2

    def sample(self, rows: int) -> Any:
        """Return uniformly distributed actions, from numpy's global generator."""
        actions = np.random.uniform(self.low, self.high, size=(rows, self.size))
        return actions.astype(np.float32)

    def scale(self, outputs: Any) -> Any:
        """Map outputs in [-1, 1] to the bounds, and clip to them."""
        return np.clip(outputs * self.action_scale + self.action_bias, self.low, self.high)


class ScaledActions(nn.Module):
    """Maps outputs in [-1, 1] to the bounds; a layer, so that a checkpoint includes the bounds."""

    low: torch.Tensor
    high: torch.Tensor
    action_scale: torch.Tensor
    action_bias: torch.Tensor

    def __init__(self, bounds: ActionBounds) -> None:
        super().__init__()
        self.register_buffer("low", torch.from_numpy(bounds.low))
        self.register_buffer("high", torch.from_numpy(bounds.high))
        scale, bias = torch.from_numpy(bounds.action_scale), torch.from_numpy(bounds.action_bias)
        self.register_buffer("action_scale", scale, persistent=False)
        self.register_buffer("action_bias", bias, persistent=False)

    def forward(self, outputs: torch.Tensor) -> torch.Tensor:
        return torch.addcmul(self.action_bias, outputs, self.action_scale)


class DeterministicActor(nn.Module):
    """The actor of TD3 and DDPG: one action per observation, within the bounds."""

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


class NoisyActor:
    """A deterministic actor with Gaussian exploration noise, in numpy."""

    def __init__(
        self, actor: DeterministicActor, bounds: ActionBounds, exploration_noise: float
    ) -> None:
        """`exploration_noise` is a standard deviation, relative to the action scale."""
        self._network = NumpyMlp(actor.network)
        self._bounds = bounds
        self._exploration_noise = exploration_noise

    def __call__(self, observations: Any) -> Any:
        """Map rows of observations to rows of actions."""
        self._network.refresh()
        outputs = self._network(np.asarray(observations, dtype=np.float32))
        if self._exploration_noise:
            noise = np.random.standard_normal(outputs.shape).astype(np.float32)
            outputs = outputs + self._exploration_noise * noise
        return self._bounds.scale(outputs)


class ContinuousPolicy:
    """Plays one environment with a function that maps rows of observations to rows of actions."""

    def __init__(self, act: Callable[[Any], Any], action_space: dict[str, Any]) -> None:
        """`action_space` is the description in a checkpoint."""
        self._act = act
        self._shape = tuple(action_space["shape"])
        self._dtype = np.dtype(action_space["dtype"])

    def act(self, observation: Any) -> Any:
        rows = np.asarray(observation, dtype=np.float32).reshape(1, -1)
        return self._act(rows)[0].reshape(self._shape).astype(self._dtype)


def load_bounds(checkpoint: TrainingCheckpoint) -> ActionBounds:
    return ActionBounds(checkpoint.policy["scaled.low"], checkpoint.policy["scaled.high"])


def load_deterministic_policy(
    checkpoint: TrainingCheckpoint, exploration_noise: float
) -> ContinuousPolicy:
    bounds = load_bounds(checkpoint)
    actor = DeterministicActor(checkpoint.policy["network.0.weight"].shape[1], bounds)
    actor.load_state_dict(checkpoint.policy)
    return ContinuousPolicy(NoisyActor(actor, bounds, exploration_noise), checkpoint.action_space)
