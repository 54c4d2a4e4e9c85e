"""Layers whose weights begin orthogonal, as on-policy learners want them."""

from __future__ import annotations

import math
from typing import TypeVar

from torch import nn

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)


def orthogonal(layer: Layer, gain: float = math.sqrt(2)) -> Layer:
    """The layer, with biases of 0."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def tanh_mlp(inputs: int, outputs: int, *, hidden: int = 64, gain: float = 1.0) -> nn.Sequential:
    """Two hidden layers; `gain` is that of the last layer: small for actions that begin alike."""
    return nn.Sequential(
        orthogonal(nn.Linear(inputs, hidden)),
        nn.Tanh(),
        orthogonal(nn.Linear(hidden, hidden)),
        nn.Tanh(),
        orthogonal(nn.Linear(hidden, outputs), gain),
    )
