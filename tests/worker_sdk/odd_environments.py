"""Environments that misbehave, for tests of code that runs or replays environments.

Imported by the process under test through its import path.
"""

import ctypes
import os
import signal
import sys
import time
from typing import Any

import gymnasium
import numpy as np

HANG_S = 3600


class OddEnvironment(gymnasium.Env[Any, Any]):
    """Counts its steps and terminates after `length`.

    At step `fault_step` it misbehaves as `fault` names, but only in a replay, so that it can be
    recorded first.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 - gymnasium's form
    action_space = gymnasium.spaces.Discrete(3)
    observation_space = gymnasium.spaces.Discrete(1_000_000)

    def __init__(
        self,
        render_mode: str | None = None,
        *,
        length: int = 20,
        fault: str = "",
        fault_step: int = 5,
        reward: float | None = None,
        rendering: str = "pixels",
    ) -> None:
        self.render_mode = render_mode
        self._length = length
        self._fault = fault if "mosaic_worker.resimulation.simulation" in sys.modules else ""
        self._fault_step = fault_step
        self._reward = reward
        self._rendering = rendering
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._steps = 0
        if self._fault == "raise in reset":
            raise RuntimeError("reset failed")
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if self._steps == self._fault_step:
            self._misbehave()
        reward = float(self.np_random.random()) + action
        if self._fault == "differ" and self._steps >= self._fault_step:
            reward += 1.0
        if self._reward is not None:
            reward = self._reward
        self._steps += 1
        is_finished = self._steps == self._length
        is_finished = is_finished or (self._fault == "end" and self._steps == self._fault_step)
        return self._steps, reward, is_finished, False, {}

    def render(self) -> Any:
        size = 4 + (self._steps if self._rendering == "growing" else 0)
        if self._rendering == "nothing":
            return None
        if self._rendering == "error":
            raise RuntimeError("cannot render")
        if self._rendering == "text":
            return "@"
        return np.full((size, size + 1, 3), self._steps % 256, dtype=np.uint8)

    def _misbehave(self) -> None:
        if self._fault == "raise":
            raise RuntimeError("step failed")
        if self._fault == "print":
            os.write(1, b"\x00\x00\x00\x05 a library prints \n" * 100)
        elif self._fault == "hang":
            time.sleep(HANG_S)
        elif self._fault == "hang and print":
            while True:
                os.write(2, b"still running\n" * 1000)
        elif self._fault == "hang in native code":
            ctypes.PyDLL(None).sleep(HANG_S)  # holds the GIL
        elif self._fault == "crash":
            sys.stderr.write("last output\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGSEGV)


gymnasium.register("Odd-v0", entry_point="odd_environments:OddEnvironment")
