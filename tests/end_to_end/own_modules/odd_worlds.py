"""Environments that misbehave, as in a user's own module."""

import os
import random
import signal
import time
from typing import Any

import gymnasium
from gymnasium.envs.registration import register

_AT = 5


class Odd(gymnasium.Env[Any, Any]):
    """Twenty steps per episode, unless something happens at the fifth."""

    observation_space = gymnasium.spaces.Discrete(100)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, render_mode: str | None = None, how: str = "") -> None:
        self.render_mode = render_mode
        self._how = how
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._steps = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        reward = float(action)
        if self._steps == _AT and self._how == "hangs":
            time.sleep(1_000_000)
        elif self._steps == _AT and self._how == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif self._steps == _AT and self._how == "differs":
            reward = random.SystemRandom().random()
        return self._steps, reward, self._steps >= 20, False, {}


register("Odd-v0", entry_point="odd_worlds:Odd")
