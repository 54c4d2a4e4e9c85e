"""Environments with known values.

In `Waiting` the first step has reward 0, and every other one 1. An episode is truncated or
terminated after three steps, which decides the value of waiting.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

TRUNCATED = "small/WaitingTruncated-v0"
TERMINATED = "small/WaitingTerminated-v0"
FIRST_OBSERVATION = np.array([1.0, 0.0], np.float32)
"""The first observation of an episode."""
WAITING = np.array([0.0, 1.0], np.float32)
"""All other observations of an episode."""
_STEPS = 3


class Waiting(gym.Env[Any, Any]):
    """Two equivalent actions."""

    def __init__(self, ends_after: int | None = None) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._ends_after = ends_after
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._steps = 0
        return FIRST_OBSERVATION.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ARG002
        self._steps += 1
        reward = 0.0 if self._steps == 1 else 1.0
        return WAITING.copy(), reward, self._steps == self._ends_after, False, {}


def register() -> None:
    """Register the environments, once per process."""
    if TRUNCATED in gym.registry:
        return
    gym.register(TRUNCATED, entry_point=_make, max_episode_steps=_STEPS)
    gym.register(TERMINATED, entry_point=_make, kwargs={"ends_after": _STEPS})


def _make(**kwargs: Any) -> Waiting:
    return Waiting(**kwargs)
