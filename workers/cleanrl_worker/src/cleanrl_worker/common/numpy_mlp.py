"""The forward pass of a small network in numpy, for choosing actions.

For a few rows, torch's overhead per operation is ten times the operation itself. The weights are
views of the network's own, so they are always current; for a network on a GPU they are copies that
`refresh` updates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

_ACTIVATIONS: dict[type[nn.Module], Callable[[Any], Any]] = {
    nn.Tanh: lambda x: np.tanh(x, out=x),
    nn.ReLU: lambda x: np.maximum(x, 0.0, out=x),
}


class NumpyMlp:
    """Evaluates an `nn.Sequential` of `Linear` (the first layer), `Tanh` and `ReLU`."""

    def __init__(self, network: nn.Sequential) -> None:
        self._network = network
        self._is_shared = all(param.device.type == "cpu" for param in network.parameters())
        self._layers: list[Callable[[Any], Any]] = []
        self.refresh()

    def refresh(self) -> None:
        """Copy the weights if the network is on a GPU; call after each update."""
        if not (self._is_shared and self._layers):
            self._layers = [_layer(module) for module in self._network]

    def __call__(self, x: Any) -> Any:
        """`x` has rows of float32 and is not modified."""
        for layer in self._layers:
            x = layer(x)
        return x


def _layer(module: nn.Module) -> Callable[[Any], Any]:
    if isinstance(module, nn.Linear):
        return _linear(module)
    return _ACTIVATIONS[type(module)]


def _linear(module: nn.Linear) -> Callable[[Any], Any]:
    weight = _array(module.weight).T
    bias = _array(module.bias)

    def linear(x: Any) -> Any:
        product = x @ weight
        product += bias
        return product

    return linear


def _array(parameter: torch.Tensor) -> Any:
    return parameter.detach().cpu().numpy()
