"""Environments that are hard to draw. Imported by the process under test, from its import path."""

import os
import signal
import time
from typing import Any

import gymnasium
import numpy as np

FOREVER_S = 3600


class HardToDraw(gymnasium.Env[Any, Any]):
    """`does` says what is hard about it."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 - gymnasium's form
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(5)

    def __init__(self, render_mode: str | None = None, *, does: str = "") -> None:
        self.render_mode = render_mode
        self._does = does
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        if self._does == "crash":
            os.write(2, b"a last word\n")
            os.kill(os.getpid(), signal.SIGSEGV)
        if self._does == "hang":
            time.sleep(FOREVER_S)
        if self._does == "raise":
            raise RuntimeError("no ice today")
        if self._does == "raise at length":
            raise RuntimeError("\udcff there is " + "no end of it " * 100_000)
        if self._does == "print":
            os.write(1, b"\x00\x00\x00\x05 a library prints\n" * 10)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        del action
        self._steps += 1
        return 0, 0.0, False, False, {}

    def render(self) -> Any:
        if self._does == "draw nothing":
            return None
        if self._does == "draw a large one":
            checks = np.indices((700, 1000)).sum(axis=0) % 2
            return np.repeat((checks * 255).astype(np.uint8)[..., None], 3, axis=2)
        picture = np.zeros((6, 8, 3), dtype=np.uint8)
        if self._does != "begin in the dark" or self._steps >= 3:
            picture[0, 0] = 7
        return picture


gymnasium.register("Hard-v0", entry_point="drawn_environments:HardToDraw")
