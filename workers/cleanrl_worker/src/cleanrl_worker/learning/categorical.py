"""Choosing one of several actions by their logits, in numpy.

Adding Gumbel noise to logits and taking the largest draws from their distribution; the noise of a
whole rollout is made in one go.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def gumbel_noise(*shape: int) -> Any:
    """From numpy's global random numbers, which a session seeds and saves."""
    return np.random.gumbel(size=shape).astype(np.float32)


def log_probabilities(logits: Any, actions: Any) -> Any:
    """Of the `actions` chosen; `logits` has one axis more, the last one."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    chosen = np.take_along_axis(shifted, actions[..., None], axis=-1)[..., 0]
    return chosen - np.log(np.exp(shifted).sum(axis=-1))
