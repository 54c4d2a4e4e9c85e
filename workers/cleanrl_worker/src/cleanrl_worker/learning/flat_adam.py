"""Adam over all parameters at once: one tensor holds them all, another one their gradients.

A small network has a dozen small tensors, and stepping them one by one takes longer than computing
their gradients. Here clipping and the step are one operation each. The parameters become views of
the flat tensor, so that `state_dict`, `load_state_dict` and a network's own code see no difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.adam import adam

if TYPE_CHECKING:
    from collections.abc import Iterable

_TINY = 1e-6


class FlatAdam:
    """Of parameters that are on one device already, and stay on it.

    Their `grad` must stay what it is: use `minimise`, or `zero_grad` of this and not of a module.
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
        """`max_grad_norm`: gradients longer than this, taken together, are shortened to it."""
        self.lr = lr
        """May be changed between two steps."""
        self._betas = betas
        self._eps = eps
        self._max_grad_norm = max_grad_norm
        each_one = list(parameters)
        self.flat = torch.cat([each.detach().reshape(-1) for each in each_one])
        """All parameters, in order."""
        self._grad = torch.zeros_like(self.flat)
        begin = 0
        for each in each_one:
            end = begin + each.numel()
            each.data = self.flat[begin:end].view_as(each)
            each.grad = self._grad[begin:end].view_as(each)
            begin = end
        self._mean = torch.zeros_like(self.flat)
        self._square = torch.zeros_like(self.flat)
        self._steps = torch.zeros((), device=self.flat.device)

    def minimise(self, loss: torch.Tensor) -> None:
        """One step down the gradient of `loss`."""
        self._grad.zero_()
        torch.autograd.backward(loss)
        self.step()

    def zero_grad(self) -> None:
        self._grad.zero_()

    @torch.no_grad()
    def step(self) -> None:
        """Down the gradients that `backward` has left."""
        if self._max_grad_norm is not None:
            scale = self._max_grad_norm / (float(torch.linalg.vector_norm(self._grad)) + _TINY)
            if scale < 1.0:
                self._grad.mul_(scale)
        adam(
            [self.flat],
            [self._grad],
            [self._mean],
            [self._square],
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
        """For a checkpoint; the parameters themselves are the network's."""
        return {"mean": self._mean, "square": self._square, "steps": self._steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._mean.copy_(state["mean"])
        self._square.copy_(state["square"])
        self._steps.copy_(state["steps"])
