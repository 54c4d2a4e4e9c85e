"""Network layers that several learners share."""

from __future__ import annotations

import math
from typing import TypeVar

import torch
from torch import nn

FEATURES = 512
"""Outputs of the last hidden layer of the Atari networks."""
_PIXEL_MAX = 255.0
_CONV_OUTPUTS = 64 * 7 * 7

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)


def layer_init(layer: Layer, std: float = math.sqrt(2)) -> Layer:
    """Initialize the weights orthogonally and the biases to 0; returns the layer."""
    nn.init.orthogonal_(layer.weight, std)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def tanh_mlp(inputs: int, outputs: int, *, hidden: int = 64, std: float = 1.0) -> nn.Sequential:
    """Two hidden layers; `std` initializes the last layer (small: near-uniform first policy)."""
    return nn.Sequential(
        layer_init(nn.Linear(inputs, hidden)),
        nn.Tanh(),
        layer_init(nn.Linear(hidden, hidden)),
        nn.Tanh(),
        layer_init(nn.Linear(hidden, outputs), std),
    )


class PixelScale(nn.Module):
    """Convert bytes to floats from 0 to 1."""

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        # On a CPU, convolutions are 1.5 times as fast in this memory format.
        pixels = frames.to(torch.float32, memory_format=torch.channels_last)
        return pixels / _PIXEL_MAX


def nature_dqn(frames: int, outputs: int) -> nn.Sequential:
    """The DQN network of Mnih et al., 2015, for `frames` stacked images of 84 x 84 bytes."""
    return nn.Sequential(
        PixelScale(),
        nn.Conv2d(frames, 32, 8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, stride=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(_CONV_OUTPUTS, FEATURES),
        nn.ReLU(),
        nn.Linear(FEATURES, outputs),
    )


def nature_features(frames: int) -> nn.Sequential:
    """The layers of `nature_dqn` up to `FEATURES`, initialized orthogonally for PPO."""
    return nn.Sequential(
        PixelScale(),
        layer_init(nn.Conv2d(frames, 32, 8, stride=4)),
        nn.ReLU(),
        layer_init(nn.Conv2d(32, 64, 4, stride=2)),
        nn.ReLU(),
        layer_init(nn.Conv2d(64, 64, 3, stride=1)),
        nn.ReLU(),
        nn.Flatten(),
        layer_init(nn.Linear(_CONV_OUTPUTS, FEATURES)),
        nn.ReLU(),
    )


class NoisyLinear(nn.Module):
    """A linear layer with factorised Gaussian noise of learned scale on its weights.

    Until `reset_noise` is called it uses the mean weights. Noise comes from torch's global
    generator, which a training session seeds and saves.

    Fortunato et al., "Noisy Networks for Exploration", 2017.
    """

    def __init__(self, inputs: int, outputs: int, *, std_init: float = 0.5) -> None:
        super().__init__()
        limit = 1.0 / math.sqrt(inputs)
        self.weight = nn.Parameter(torch.empty(outputs, inputs).uniform_(-limit, limit))
        self.bias = nn.Parameter(torch.empty(outputs).uniform_(-limit, limit))
        self.weight_sigma = nn.Parameter(torch.full((outputs, inputs), std_init * limit))
        self.bias_sigma = nn.Parameter(torch.full((outputs,), std_init * limit))
        self._epsilon: tuple[torch.Tensor, torch.Tensor] | None = None

    def reset_noise(self) -> None:
        outputs, inputs = self.weight.shape
        noise = torch.randn(inputs + outputs, device=self.weight.device)
        noise = noise.sign() * noise.abs().sqrt()
        self._epsilon = (noise[:inputs], noise[inputs:])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = nn.functional.linear(x, self.weight, self.bias)
        if self._epsilon is None:
            return mean
        epsilon_in, epsilon_out = self._epsilon
        return mean + epsilon_out * nn.functional.linear(
            x * epsilon_in, self.weight_sigma, self.bias_sigma
        )


class ContinuousCritic(nn.Module):
    """`n_critics` Q networks with two hidden layers each, evaluated as batched matrix products.

    With twin critics the minimum of two independent estimates reduces overestimation.
    """

    def __init__(self, n_critics: int, inputs: int, *, hidden: int = 256) -> None:
        super().__init__()
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for fan_in, fan_out in ((inputs, hidden), (hidden, hidden), (hidden, 1)):
            # The default initialization of nn.Linear.
            limit = 1 / math.sqrt(fan_in)
            weight = torch.empty(n_critics, fan_in, fan_out).uniform_(-limit, limit)
            bias = torch.empty(n_critics, 1, fan_out).uniform_(-limit, limit)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(bias))

    def forward(self, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Return Q values [critics, rows]."""
        return self._q_values(observations, actions, list(self.weights), list(self.biases))

    def q1_forward(self, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Return the Q values [1, rows] of the first critic only."""
        weights = [weight[:1] for weight in self.weights]
        biases = [bias[:1] for bias in self.biases]
        return self._q_values(observations, actions, weights, biases)

    @staticmethod
    def _q_values(
        observations: torch.Tensor,
        actions: torch.Tensor,
        weights: list[torch.Tensor],
        biases: list[torch.Tensor],
    ) -> torch.Tensor:
        x = torch.cat((observations, actions), dim=1).expand(len(weights[0]), -1, -1)
        x = torch.baddbmm(biases[0], x, weights[0]).relu_()
        x = torch.baddbmm(biases[1], x, weights[1]).relu_()
        return torch.baddbmm(biases[2], x, weights[2]).squeeze(2)
