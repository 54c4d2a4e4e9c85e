"""Adam over one flat tensor of parameters, and target networks that share its layout.

A small network has a dozen small tensors, and stepping them one by one takes longer than computing
their gradients. Here gradient clipping, the optimizer step and the target update are one operation
each. The parameters become views of the flat tensor, so `state_dict`, `load_state_dict` and the
network's own code work unchanged.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import nn
from torch.optim.adam import adam

if TYPE_CHECKING:
    from collections.abc import Iterable

_CLIP_EPS = 1e-6

Network = TypeVar("Network", bound=nn.Module)


class FlatAdam:
    """Optimizes parameters that are on one device already, and stay there.

    The parameters' `grad` tensors must not be replaced: call `minimize`, or this object's
    `zero_grad` instead of the module's.
    """

    def __init__(
        self,
        parameters: Iterable[torch.nn.Parameter],
        lr: float,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        max_grad_norm: float | None = None,
    ) -> None:
        """`max_grad_norm` clips the norm of all gradients together."""
        self.lr = lr
        """May be changed between two steps."""
        self._betas = betas
        self._eps = eps
        self._max_grad_norm = max_grad_norm
        params = list(parameters)
        self.flat = torch.cat([param.detach().reshape(-1) for param in params])
        """All parameters, in order."""
        self._grad = torch.zeros_like(self.flat)
        start = 0
        for param in params:
            end = start + param.numel()
            param.data = self.flat[start:end].view_as(param)
            param.grad = self._grad[start:end].view_as(param)
            start = end
        self._exp_avg = torch.zeros_like(self.flat)
        self._exp_avg_sq = torch.zeros_like(self.flat)
        self._steps = torch.zeros((), device=self.flat.device)

    def minimize(self, loss: torch.Tensor) -> None:
        """Backpropagate `loss` and make one step."""
        self._grad.zero_()
        torch.autograd.backward(loss)
        self.step()

    def zero_grad(self) -> None:
        self._grad.zero_()

    @torch.no_grad()
    def step(self) -> None:
        """Make one step with the gradients that `backward` computed."""
        if self._max_grad_norm is not None:
            scale = self._max_grad_norm / (float(torch.linalg.vector_norm(self._grad)) + _CLIP_EPS)
            if scale < 1.0:
                self._grad.mul_(scale)
        adam(
            [self.flat],
            [self._grad],
            [self._exp_avg],
            [self._exp_avg_sq],
            [],
            [self._steps],
            fused=True,
            amsgrad=False,
            beta1=self._betas[0],
            beta2=self._betas[1],
            lr=self.lr,
            weight_decay=0.0,
            eps=self._eps,
            maximize=False,
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the optimizer's state; the parameters are part of the network's."""
        return {"mean": self._exp_avg, "square": self._exp_avg_sq, "steps": self._steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._exp_avg.copy_(state["mean"])
        self._exp_avg_sq.copy_(state["square"])
        self._steps.copy_(state["steps"])


class TargetNetwork:
    """A copy of a network whose weights are updated by Polyak averaging."""

    def __init__(self, network: nn.Module, optimizer: FlatAdam) -> None:
        """`optimizer` must hold exactly the parameters of `network`."""
        self.network = copy.deepcopy(network).requires_grad_(requires_grad=False)
        self._source = optimizer.flat.detach()
        self._flat = self._source.clone()
        start = 0
        for param in self.network.parameters():
            end = start + param.numel()
            param.data = self._flat[start:end].view_as(param)
            start = end

    def update(self, tau: float) -> None:
        """Move by `tau` towards the network; 1 copies it."""
        self._flat.lerp_(self._source, tau)


def share_frozen_weights(network: Network) -> Network:
    """Return a copy of `network` with the same weights, through which only inputs get gradients."""
    frozen = copy.deepcopy(network)
    for param, shared in zip(frozen.parameters(), network.parameters(), strict=True):
        param.data = shared.data
        param.requires_grad = False
    return frozen
