"""Action and return distributions: categorical, diagonal normal, and C51's fixed support.

Noise is drawn from numpy's global generator, which a training session seeds and saves. The noise
of a complete rollout is drawn at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def gumbel_noise(*shape: int) -> Any:
    """Return noise; the argmax of logits plus this noise is a sample of their distribution."""
    return np.random.gumbel(size=shape).astype(np.float32)


def categorical_log_prob(logits: Any, actions: Any) -> Any:
    """Return the log probability of `actions`; the last axis of `logits` is the action axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    chosen = np.take_along_axis(shifted, actions[..., None], axis=-1)[..., 0]
    return chosen - np.log(np.exp(shifted).sum(axis=-1))


def normal_noise(*shape: int) -> Any:
    return np.random.standard_normal(shape).astype(np.float32)


def normal_log_prob_of_noise(noise: Any, log_std: Any) -> Any:
    """Return the log probability of the actions mean + std * noise; sums over the last axis."""
    return -(0.5 * np.square(noise) + log_std + np.float32(_HALF_LOG_2PI)).sum(axis=-1)


def normal_log_prob(
    actions: torch.Tensor, mean: torch.Tensor, log_std: torch.Tensor
) -> torch.Tensor:
    """Return the log probability of `actions` [rows, dimensions], differentiable."""
    noise = (actions - mean) * (-log_std).exp()
    return -(0.5 * noise.square() + log_std + _HALF_LOG_2PI).sum(dim=1)


def normal_entropy(log_std: torch.Tensor) -> torch.Tensor:
    """Return the entropy; it does not depend on the state, because the deviation does not."""
    return (log_std + (0.5 + _HALF_LOG_2PI)).sum()


def project_distribution(
    pmfs: torch.Tensor, returns: torch.Tensor, atoms: torch.Tensor
) -> torch.Tensor:
    """Project the probabilities `pmfs` of `returns` onto the evenly spaced support `atoms`.

    The atoms are the last axis of all three. The probability of a return between two atoms is
    split between them so that the mean is kept; returns outside of the support are clamped.
    """
    n_atoms = len(atoms)
    b = (returns.clamp(atoms[0], atoms[-1]) - atoms[0]) / (atoms[1] - atoms[0])
    lower = b.floor().clamp(0, n_atoms - 1)
    upper_weight = b - lower
    lower_index = lower.long()
    upper_index = (lower_index + 1).clamp(max=n_atoms - 1)
    target_pmfs = torch.zeros_like(pmfs)
    target_pmfs.scatter_add_(-1, lower_index, pmfs * (1.0 - upper_weight))
    target_pmfs.scatter_add_(-1, upper_index, pmfs * upper_weight)
    return target_pmfs
