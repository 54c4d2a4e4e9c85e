"""Several critics as one: each layer of all of them is one batched product of matrices.

A critic tells the return to expect of an action in a state. Twin critics never agree in their
mistakes, so that the lower one of two overestimates less.
"""

from __future__ import annotations

import math

import torch
from torch import nn


class Critics(nn.Module):
    """`count` networks with two hidden layers, which begin differently and share nothing."""

    def __init__(self, count: int, inputs: int, *, hidden: int = 256) -> None:
        super().__init__()
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for fan_in, fan_out in ((inputs, hidden), (hidden, hidden), (hidden, 1)):
            # As nn.Linear begins.
            limit = 1 / math.sqrt(fan_in)
            weight = torch.empty(count, fan_in, fan_out).uniform_(-limit, limit)
            bias = torch.empty(count, 1, fan_out).uniform_(-limit, limit)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(bias))

    def forward(self, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """A row of values per critic."""
        return self._values(observations, actions, list(self.weights), list(self.biases))

    def first(self, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """The values of the first critic alone, in one row."""
        weights = [each[:1] for each in self.weights]
        return self._values(observations, actions, weights, [each[:1] for each in self.biases])

    @staticmethod
    def _values(
        observations: torch.Tensor,
        actions: torch.Tensor,
        weights: list[torch.Tensor],
        biases: list[torch.Tensor],
    ) -> torch.Tensor:
        rows = torch.cat((observations, actions), dim=1).expand(len(weights[0]), -1, -1)
        rows = torch.baddbmm(biases[0], rows, weights[0]).relu_()
        rows = torch.baddbmm(biases[1], rows, weights[1]).relu_()
        return torch.baddbmm(biases[2], rows, weights[2]).squeeze(2)
