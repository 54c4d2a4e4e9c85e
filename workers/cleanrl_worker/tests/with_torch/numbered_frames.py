"""An environment whose frames are unique numbers, stacked as for Atari."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class _NumberedFrameEnv(gym.Env[Any, Any]):
    """Each frame encodes its number in four bytes; the reward is the number, too."""

    def __init__(self, length: int, first: int, *, is_truncated: bool) -> None:
        self.observation_space = spaces.Box(0, 255, (2, 2), np.uint8)
        self.action_space = spaces.Discrete(5)
        self._length = length
        self._is_truncated = is_truncated
        self._number = first
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._steps = 0
        return self._next_frame(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ARG002
        self._steps += 1
        is_last = self._steps == self._length
        frame = self._next_frame()
        terminated = is_last and not self._is_truncated
        return frame, float(self._number), terminated, is_last and self._is_truncated, {}

    def _next_frame(self) -> Any:
        self._number += 1
        return np.frombuffer(self._number.to_bytes(4, "big"), np.uint8).reshape(2, 2)


class NumberedFrames(gym.wrappers.FrameStackObservation):
    """Episodes of `length` steps; truncated if `is_truncated`. Numbers start after `first`."""

    def __init__(self, length: int, first: int = 0, *, is_truncated: bool = False) -> None:
        super().__init__(_NumberedFrameEnv(length, first, is_truncated=is_truncated), 4)


def numbers_of(stack: Any) -> tuple[int, ...]:
    """The numbers of its frames, oldest first."""
    return tuple(int.from_bytes(frame.tobytes(), "big") for frame in stack)
