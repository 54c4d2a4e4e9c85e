"""Environments with one fault each; created as `odd_environments:Id`."""

from __future__ import annotations

import os
import resource
import signal
from typing import Any

import gymnasium
import numpy as np


class CountingEnv(gymnasium.Env[Any, Any]):
    """Counts steps, and renders the count; it has no fault."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 - gymnasium's own form
    observation_space = gymnasium.spaces.Discrete(1000)
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, render_mode: str | None = None, length: int = 100) -> None:
        self.render_mode = render_mode
        self._length = length
        self._count = 0

    def reset(self, **options: Any) -> tuple[int, dict[str, Any]]:
        super().reset(**options)
        self._count = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self._count += 1
        return self._count, float(action), self._count >= self._length, False, {}

    def render(self) -> Any:
        return np.full((16, 20, 3), self._count % 256, np.uint8)


class RaisesInReset(CountingEnv):
    """Raises as if a required file were missing."""

    def reset(self, **options: Any) -> tuple[int, dict[str, Any]]:
        raise RuntimeError(f"no such level in {sorted(options)}")


class RaisesInStep(CountingEnv):
    """Raises at the third step."""

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if self._count == 2:
            raise ZeroDivisionError("invalid mass")
        return super().step(action)


class CrashesInStep(CountingEnv):
    """Crashes at the third step, like native code."""

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if self._count == 2:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().step(action)


class RendersNone(CountingEnv):
    def render(self) -> Any:
        return None


class RendersFloats(CountingEnv):
    def render(self) -> Any:
        return np.zeros((16, 20, 3), np.float64)


class RaisesInRender(CountingEnv):
    def render(self) -> Any:
        raise OSError("no display")


class GrowingFrame(CountingEnv):
    def render(self) -> Any:
        return np.full((16 + self._count, 20, 3), self._count % 256, np.uint8)


for env_class in (
    CountingEnv,
    RaisesInReset,
    RaisesInStep,
    CrashesInStep,
    RendersNone,
    RendersFloats,
    RaisesInRender,
    GrowingFrame,
):
    gymnasium.register(
        f"{env_class.__name__}-v0",
        entry_point=f"odd_environments:{env_class.__name__}",
        disable_env_checker=True,
    )
