"""What an update of a clipped objective tells about itself: how far the policy has moved."""

from __future__ import annotations

from typing import Any

import torch

from cleanrl_worker.learning.advantages import explained_variance


def standardised(values: torch.Tensor) -> torch.Tensor:
    """With mean 0 and deviation 1."""
    return (values - values.mean()) / (values.std() + 1e-8)


def approximate_kl(log_ratio: torch.Tensor) -> float:
    """How far the policy has moved: an estimate of little variance that is never negative."""
    return float((log_ratio.exp() - 1.0 - log_ratio).mean())


class UpdateFigures:
    """Notes each minibatch; numbers are made of it once, at the end of the update."""

    def __init__(self, clip_coef: float) -> None:
        self._clip_coef = clip_coef
        self._log_ratios: list[torch.Tensor] = []
        self._losses: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None

    def note(
        self,
        log_ratio: torch.Tensor,
        policy_loss: torch.Tensor,
        value_loss: torch.Tensor,
        entropy: torch.Tensor,
    ) -> None:
        self._log_ratios.append(log_ratio.detach())
        self._losses = (policy_loss.detach(), value_loss.detach(), entropy.detach())

    def moved_further_than(self, target_kl: float | None) -> bool:
        """By the last minibatch; never when there is no target."""
        return target_kl is not None and approximate_kl(self._log_ratios[-1]) > target_kl

    def told(self, values: Any, returns: Any) -> dict[str, float]:
        """Under CleanRL's tags: losses of the last minibatch, and the share of clipped steps."""
        if self._losses is None:  # nothing was learnt from
            return {}
        policy_loss, value_loss, entropy = (loss.item() for loss in self._losses)
        last = self._log_ratios[-1]
        beyond = (torch.cat(self._log_ratios).exp() - 1.0).abs() > self._clip_coef
        return {
            "losses/value_loss": value_loss,
            "losses/policy_loss": policy_loss,
            "losses/entropy": entropy,
            "losses/old_approx_kl": -last.mean().item(),
            "losses/approx_kl": approximate_kl(last),
            "losses/clipfrac": beyond.float().mean().item(),
            "losses/explained_variance": explained_variance(values, returns),
        }
