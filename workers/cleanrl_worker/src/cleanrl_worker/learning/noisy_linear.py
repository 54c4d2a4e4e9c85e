"""A linear layer that explores: its weights are noisy, and how noisy they are is learnt.

Fortunato et al., "Noisy Networks for Exploration", 2017.
"""

from __future__ import annotations

import math

import torch
from torch import nn


class NoisyLinear(nn.Module):
    """Noise is one number per input times one per output; without any drawn, it acts by the mean.

    It is from torch's global random numbers, which a session seeds and saves.
    """

    def __init__(self, inputs: int, outputs: int, *, sigma: float = 0.5) -> None:
        """`sigma`: how noisy it begins."""
        super().__init__()
        limit = 1.0 / math.sqrt(inputs)
        self.weight = nn.Parameter(torch.empty(outputs, inputs).uniform_(-limit, limit))
        self.bias = nn.Parameter(torch.empty(outputs).uniform_(-limit, limit))
        self.weight_sigma = nn.Parameter(torch.full((outputs, inputs), sigma * limit))
        self.bias_sigma = nn.Parameter(torch.full((outputs,), sigma * limit))
        self._noise: tuple[torch.Tensor, torch.Tensor] | None = None

    def draw_noise(self) -> None:
        outputs, inputs = self.weight.shape
        drawn = torch.randn(inputs + outputs, device=self.weight.device)
        drawn = drawn.sign() * drawn.abs().sqrt()
        self._noise = (drawn[:inputs], drawn[inputs:])

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        mean = nn.functional.linear(rows, self.weight, self.bias)
        if self._noise is None:
            return mean
        of_inputs, of_outputs = self._noise
        return mean + of_outputs * nn.functional.linear(
            rows * of_inputs, self.weight_sigma, self.bias_sigma
        )
