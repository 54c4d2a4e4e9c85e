"""Environments that fail, for tests of error messages."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class WithoutNumbers(gym.Env[Any, Any]):
    """Its rewards become NaN after a while."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.Discrete(2)
    _steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ARG002
        self._steps += 1
        reward = float("nan") if self._steps > 600 else 1.0
        return np.zeros(2, np.float32), reward, self._steps % 50 == 0, False, {}


gym.register("WithoutNumbers-v0", lambda **_: WithoutNumbers())
