"""Continuous actions drawn around a mean, independently of each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def normal_noise(*shape: int) -> Any:
    """From numpy's global random numbers, which a session seeds and saves."""
    return np.random.standard_normal(shape).astype(np.float32)


def log_probabilities_of_noise(noise: Any, log_std: Any) -> Any:
    """Of the actions mean + std * noise; the last axis holds the parts of an action."""
    return -(0.5 * np.square(noise) + log_std + np.float32(_HALF_LOG_2PI)).sum(axis=-1)


def log_probabilities(
    actions: torch.Tensor, mean: torch.Tensor, log_std: torch.Tensor
) -> torch.Tensor:
    """The same from actions, for learning."""
    noise = (actions - mean) * (-log_std).exp()
    return -(0.5 * noise.square() + log_std + _HALF_LOG_2PI).sum(dim=1)


def entropy_of(log_std: torch.Tensor) -> torch.Tensor:
    """The same for every state, as the deviation is."""
    return (log_std + (0.5 + _HALF_LOG_2PI)).sum()
