"""Environments that misbehave, for tests of whatever hosts or replays an environment.

Imported by the process under test, which finds this file on its import path.
"""

import ctypes
import os
import signal
import sys
import time
from typing import Any

import gymnasium
import numpy as np

FOREVER_S = 3600


class OddEnvironment(gymnasium.Env[Any, Any]):
    """Counts its steps and ends after `length`.

    At step `at` it does what `does` names, but only when it is replayed, so that it can be recorded
    first.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 - gymnasium's form
    action_space = gymnasium.spaces.Discrete(3)
    observation_space = gymnasium.spaces.Discrete(1_000_000)

    def __init__(
        self,
        render_mode: str | None = None,
        *,
        length: int = 20,
        does: str = "",
        at: int = 5,
        reward: float | None = None,
        draws: str = "pixels",
    ) -> None:
        self.render_mode = render_mode
        self._length = length
        self._does = does if "mosaic_worker.resimulation.simulation" in sys.modules else ""
        self._at = at
        self._reward = reward
        self._draws = draws
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._steps = 0
        if self._does == "raise in reset":
            raise RuntimeError("no ice today")
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if self._steps == self._at:
            self._misbehave()
        reward = float(self.np_random.random()) + action
        if self._does == "differ" and self._steps >= self._at:
            reward += 1.0
        if self._reward is not None:
            reward = self._reward
        self._steps += 1
        is_over = self._steps == self._length
        is_over = is_over or (self._does == "end" and self._steps == self._at)
        return self._steps, reward, is_over, False, {}

    def render(self) -> Any:
        size = 4 + (self._steps if self._draws == "growing" else 0)
        if self._draws == "nothing":
            return None
        if self._draws == "error":
            raise RuntimeError("no paint")
        if self._draws == "text":
            return "@"
        return np.full((size, size + 1, 3), self._steps % 256, dtype=np.uint8)

    def _misbehave(self) -> None:
        if self._does == "raise":
            raise RuntimeError("the ice broke")
        if self._does == "print":
            os.write(1, b"\x00\x00\x00\x05 a library prints \n" * 100)
        elif self._does == "hang":
            time.sleep(FOREVER_S)
        elif self._does == "hang and talk":
            while True:
                os.write(2, b"no ice yet\n" * 1000)
        elif self._does == "hang in native code":
            ctypes.PyDLL(None).sleep(FOREVER_S)  # holds the interpreter's lock meanwhile
        elif self._does == "crash":
            sys.stderr.write("a last word\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGSEGV)


gymnasium.register("Odd-v0", entry_point="odd_environments:OddEnvironment")
