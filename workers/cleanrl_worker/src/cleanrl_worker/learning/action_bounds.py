"""The bounds of continuous actions: networks answer between -1 and 1, environments want their own.

Used by the off-policy learners for continuous actions, while training and when their policies play.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from mosaic_worker.errors import WorkerError


class ActionBounds:
    """Of a box of actions with finite bounds. Rows of actions are flat, one per environment."""

    def __init__(self, low: Any, high: Any) -> None:
        """Raises `WorkerError` when a bound is infinite."""
        self.low = np.asarray(low, dtype=np.float32).reshape(-1)
        self.high = np.asarray(high, dtype=np.float32).reshape(-1)
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise WorkerError(
                "The environment's actions have no finite bounds, which this algorithm needs.",
                remedy="Choose ppo_continuous_action, or an environment with bounded actions.",
            )
        self.size = self.low.size
        self.scale = (self.high - self.low) / 2
        self.middle = (self.high + self.low) / 2

    def random(self, rows: int) -> Any:
        """Each action as likely as any other, by numpy's global generator."""
        drawn = np.random.uniform(self.low, self.high, size=(rows, self.size))
        return drawn.astype(np.float32)

    def scaled(self, answers: Any) -> Any:
        """Answers between -1 and 1 as actions; what lies beyond is moved onto the bounds."""
        return np.clip(answers * self.scale + self.middle, self.low, self.high)


class ScaledActions(nn.Module):
    """The same for tensors, as a part of a network whose checkpoint then knows its bounds."""

    low: torch.Tensor
    high: torch.Tensor
    scale: torch.Tensor
    middle: torch.Tensor

    def __init__(self, bounds: ActionBounds) -> None:
        super().__init__()
        self.register_buffer("low", torch.from_numpy(bounds.low))
        self.register_buffer("high", torch.from_numpy(bounds.high))
        self.register_buffer("scale", torch.from_numpy(bounds.scale), persistent=False)
        self.register_buffer("middle", torch.from_numpy(bounds.middle), persistent=False)

    def forward(self, answers: torch.Tensor) -> torch.Tensor:
        return torch.addcmul(self.middle, answers, self.scale)
