"""Metrics of a clipped policy update: losses, KL divergence, clip fraction, explained variance."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def normalize_advantages(advantages: torch.Tensor) -> torch.Tensor:
    """Scale to mean 0 and standard deviation 1."""
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def approx_kl(logratio: torch.Tensor) -> float:
    """Return the low-variance, non-negative KL estimator (http://joschu.net/blog/kl-approx.html)."""
    return float((logratio.exp() - 1.0 - logratio).mean())


def explained_variance(values: Any, returns: Any) -> float:
    """Return 1 if the values predict the returns exactly, 0 if no better than their mean."""
    var_returns = float(np.var(returns))
    return 0.0 if var_returns == 0 else 1.0 - float(np.var(returns - values)) / var_returns


class UpdateMetrics:
    """Records each minibatch; converts to floats once, at the end of the update."""

    def __init__(self, clip_coef: float) -> None:
        self._clip_coef = clip_coef
        self._logratios: list[torch.Tensor] = []
        self._losses: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None

    def record(
        self,
        logratio: torch.Tensor,
        pg_loss: torch.Tensor,
        v_loss: torch.Tensor,
        entropy: torch.Tensor,
    ) -> None:
        self._logratios.append(logratio.detach())
        self._losses = (pg_loss.detach(), v_loss.detach(), entropy.detach())

    def exceeds_kl(self, target_kl: float | None) -> bool:
        """Whether the last minibatch's KL is above the target; False without a target."""
        return target_kl is not None and approx_kl(self._logratios[-1]) > target_kl

    def as_scalars(self, values: Any, returns: Any) -> dict[str, float]:
        """Return CleanRL's tags: losses of the last minibatch, clip fraction of all of them."""
        if self._losses is None:  # no minibatch was recorded
            return {}
        pg_loss, v_loss, entropy = (loss.item() for loss in self._losses)
        last = self._logratios[-1]
        ratio = torch.cat(self._logratios).exp()
        clipfrac = ((ratio - 1.0).abs() > self._clip_coef).float().mean().item()
        return {
            "losses/value_loss": v_loss,
            "losses/policy_loss": pg_loss,
            "losses/entropy": entropy,
            "losses/old_approx_kl": -last.mean().item(),
            "losses/approx_kl": approx_kl(last),
            "losses/clipfrac": clipfrac,
            "losses/explained_variance": explained_variance(values, returns),
        }
