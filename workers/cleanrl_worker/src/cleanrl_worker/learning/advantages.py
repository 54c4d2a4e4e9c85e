"""How much better an action was than expected: generalised advantage estimation.

Arrays are [steps, environments], as a rollout has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def estimate_advantages(
    rewards: Any, values: Any, ended: Any, *, gamma: float, gae_lambda: float
) -> Any:
    """`values` has one row more than `rewards`: what is expected after the last step.

    `ended` tells whether an episode ended with a step, so that what follows does not count. For one
    that was cut off (truncated), the value of its last observation is part of its last reward.
    """
    goes_on = 1.0 - ended.astype(np.float32)
    surprises = rewards + gamma * values[1:] * goes_on - values[:-1]
    kept = np.float32(gamma * gae_lambda) * goes_on
    advantages = np.empty_like(surprises)
    following = np.zeros_like(surprises[0])
    for step in range(len(surprises) - 1, -1, -1):
        following = surprises[step] + kept[step] * following
        advantages[step] = following
    return advantages


def explained_variance(values: Any, returns: Any) -> float:
    """1: the values tell the returns; 0 and less: they tell no more than the mean does."""
    variance = float(np.var(returns))
    return 0.0 if variance == 0 else 1.0 - float(np.var(returns - values)) / variance
