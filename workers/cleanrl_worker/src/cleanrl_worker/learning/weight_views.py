"""Second views of a network's weights: a copy that follows slowly, and one that does not learn.

Both are made after `FlatAdam` has put the network's parameters into one tensor, so that following
is one operation, whatever the number of layers.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, TypeVar

from torch import nn

if TYPE_CHECKING:
    from cleanrl_worker.learning.flat_adam import FlatAdam

Network = TypeVar("Network", bound=nn.Module)


class Follower:
    """A target network: its weights move a little towards those of the network that learns."""

    def __init__(self, network: nn.Module, optimizer: FlatAdam) -> None:
        """`optimizer` is that of all parameters of `network`, and of nothing else."""
        self.network = copy.deepcopy(network).requires_grad_(requires_grad=False)
        self._leading = optimizer.flat.detach()
        self._flat = self._leading.clone()
        begin = 0
        for each in self.network.parameters():
            end = begin + each.numel()
            each.data = self._flat[begin:end].view_as(each)
            begin = end

    def follow(self, tau: float) -> None:
        """A share `tau` of the way; 1 makes it a copy."""
        self._flat.lerp_(self._leading, tau)


def without_learning(network: Network) -> Network:
    """The same weights, always the newest, through which gradients pass without reaching them."""
    view = copy.deepcopy(network)
    for own, shared in zip(view.parameters(), network.parameters(), strict=True):
        own.data = shared.data
        own.requires_grad = False
    return view
