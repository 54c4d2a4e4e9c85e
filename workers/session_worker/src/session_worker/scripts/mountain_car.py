"""MountainCar, discrete and continuous: push in the direction of movement."""

from __future__ import annotations

from typing import Any

import numpy as np

LEFT, RIGHT = 0, 2


class SwingDriver:
    """Always accelerates in the direction of movement, so that each swing is higher."""

    def __init__(self, env: Any) -> None:
        self._is_continuous = hasattr(env.action_space, "low")

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - interface
        moves_right = float(observation[1]) >= 0
        if self._is_continuous:
            return np.array([1.0 if moves_right else -1.0], dtype=np.float32)
        return RIGHT if moves_right else LEFT
