"""The forward pass of a small network in numpy, for choosing actions.

For a handful of rows torch takes ten times longer around each operation than for the operation.
The weights are views of the network's own, so that they are always the newest; of a network on a
GPU they are copies that `refresh` brings up to date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

_ACTIVATIONS: dict[type[nn.Module], Callable[[Any], Any]] = {
    nn.Tanh: lambda rows: np.tanh(rows, out=rows),
    nn.ReLU: lambda rows: np.maximum(rows, 0.0, out=rows),
}


class NumpyMlp:
    """Of an `nn.Sequential` that begins with a `Linear`, followed by such, `Tanh` and `ReLU`."""

    def __init__(self, network: nn.Sequential) -> None:
        self._network = network
        self._is_shared = all(each.device.type == "cpu" for each in network.parameters())
        self._layers: list[Callable[[Any], Any]] = []
        self.refresh()

    def refresh(self) -> None:
        """Before acting, when the network may have learnt: nothing to do unless it is on a GPU."""
        if not (self._is_shared and self._layers):
            self._layers = [_layer(module) for module in self._network]

    def __call__(self, rows: Any) -> Any:
        """`rows` are float32 and are not changed."""
        for layer in self._layers:
            rows = layer(rows)
        return rows


def _layer(module: nn.Module) -> Callable[[Any], Any]:
    if isinstance(module, nn.Linear):
        return _linear(module)
    return _ACTIVATIONS[type(module)]


def _linear(module: nn.Linear) -> Callable[[Any], Any]:
    weight = _array(module.weight).T
    bias = _array(module.bias)

    def linear(rows: Any) -> Any:
        product = rows @ weight
        product += bias
        return product

    return linear


def _array(parameter: torch.Tensor) -> Any:
    return parameter.detach().cpu().numpy()
