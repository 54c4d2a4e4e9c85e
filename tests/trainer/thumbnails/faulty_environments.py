"""An environment with faults, imported by the render process from its import path."""

import os
import signal
import time
from typing import Any

import gymnasium
import numpy as np

FOREVER_S = 3600


class FaultyEnv(gymnasium.Env[Any, Any]):
    """`fault` selects what goes wrong in `reset` or `render`."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 - gymnasium's form
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(5)

    def __init__(self, render_mode: str | None = None, *, fault: str = "") -> None:
        self.render_mode = render_mode
        self._fault = fault
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        if self._fault == "crash":
            os.write(2, b"last output\n")
            os.kill(os.getpid(), signal.SIGSEGV)
        if self._fault == "hang":
            time.sleep(FOREVER_S)
        if self._fault == "raise":
            raise RuntimeError("reset failed")
        if self._fault == "raise a long message":
            raise RuntimeError("\udcff long " + "message " * 100_000)
        if self._fault == "print":
            os.write(1, b"\x00\x00\x00\x05 a library prints\n" * 10)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        del action
        self._steps += 1
        return 0, 0.0, False, False, {}

    def render(self) -> Any:
        if self._fault == "render nothing":
            return None
        if self._fault == "render a large frame":
            checks = np.indices((700, 1000)).sum(axis=0) % 2
            return np.repeat((checks * 255).astype(np.uint8)[..., None], 3, axis=2)
        frame = np.zeros((6, 8, 3), dtype=np.uint8)
        if self._fault != "start with a black frame" or self._steps >= 3:
            frame[0, 0] = 7
        return frame


gymnasium.register("Faulty-v0", entry_point="faulty_environments:FaultyEnv")
