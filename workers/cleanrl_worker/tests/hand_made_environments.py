"""Environments in which every value is known."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Counting(gym.Env[Any, Any]):
    """The observation counts steps; reward 1 each; terminates after `ends_after` steps."""

    def __init__(self, ends_after: int | None = None, actions: Any = None) -> None:
        self.observation_space = spaces.Box(0.0, 1000.0, (1,), np.float32)
        self.action_space = actions or spaces.Discrete(2)
        self._ends_after = ends_after
        self._count = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._count = 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ARG002
        self._count += 1
        return self._observation(), 1.0, self._count == self._ends_after, False, {}

    def _observation(self) -> Any:
        return np.array([self._count], dtype=np.float32)


class ThreeLives(Counting):
    """The interface that EpisodicLife uses: an emulator that loses a life every two steps."""

    class _Emulator:
        def __init__(self, env: ThreeLives) -> None:
            self._env = env

        def lives(self) -> int:
            return max(0, 3 - self._env._count // 2)

    def __init__(self) -> None:
        super().__init__(ends_after=6)
        self.ale = self._Emulator(self)


def with_time_limit(env: gym.Env[Any, Any], after: int) -> gym.Env[Any, Any]:
    """A time limit, as `gymnasium.make` adds it."""
    return gym.wrappers.TimeLimit(gym.wrappers.OrderEnforcing(env), after)
