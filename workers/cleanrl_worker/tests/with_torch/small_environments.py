"""Environments that are small enough to know the correct values.

`Waiting` never terminates: the first step has reward 0, every other one 1. Truncation (`cut`) or
termination after three steps (`over`) decides the value of waiting.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

CUT = "small/WaitingCut-v0"
OVER = "small/WaitingOver-v0"
ARRIVING = np.array([1.0, 0.0], np.float32)
"""The first observation of an episode."""
WAITING = np.array([0.0, 1.0], np.float32)
"""All others."""
_STEPS = 3


class Waiting(gym.Env[Any, Any]):
    """Two equivalent actions."""

    def __init__(self, steps_until_over: int | None = None) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._steps_until_over = steps_until_over
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._steps = 0
        return ARRIVING.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ARG002
        self._steps += 1
        reward = 0.0 if self._steps == 1 else 1.0
        return WAITING.copy(), reward, self._steps == self._steps_until_over, False, {}


def register() -> None:
    """Once per process."""
    if CUT in gym.registry:
        return
    gym.register(CUT, entry_point=_made, max_episode_steps=_STEPS)
    gym.register(OVER, entry_point=_made, kwargs={"steps_until_over": _STEPS})


def _made(**given: Any) -> Waiting:
    return Waiting(**given)
