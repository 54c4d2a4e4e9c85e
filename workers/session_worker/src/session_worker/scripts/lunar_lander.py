"""LunarLander, discrete and continuous: limits the descent speed by height, tilts to the pad."""

from __future__ import annotations

from typing import Any

import numpy as np

NO_ENGINE, LEFT_ENGINE, MAIN_ENGINE, RIGHT_ENGINE = range(4)

MAX_TILT = 0.35
TILT_DEADBAND = 0.06
SPEED_DEADBAND = 0.05


class LanderPilot:
    """Two controllers: the tilt for the horizontal, the main engine for the vertical speed."""

    def __init__(self, env: Any) -> None:
        self._is_continuous = hasattr(env.action_space, "low")

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - interface
        x, y, speed_x, speed_y, tilt, angular_speed, left_leg, right_leg = map(float, observation)
        has_landed = bool(left_leg or right_leg)
        target_tilt = 0.0 if has_landed else _clip(0.5 * x + 1.0 * speed_x, MAX_TILT)
        turn = 0.6 * (target_tilt - tilt) - 0.7 * angular_speed
        target_speed_y = 0.0 if has_landed else -0.12 - 0.45 * max(0.0, y - 0.3 * abs(x))
        lift = target_speed_y - speed_y
        return self._action(turn, lift, has_landed)

    def _action(self, turn: float, lift: float, has_landed: bool) -> Any:
        if self._is_continuous:
            main = 0.2 + lift if lift > SPEED_DEADBAND else -1.0
            side = 0.0 if has_landed else -turn * 10
            return np.array([_clip(main, 1.0), _clip(side, 1.0)], dtype=np.float32)
        if lift > SPEED_DEADBAND and lift > abs(turn):
            return MAIN_ENGINE
        if abs(turn) > TILT_DEADBAND and not has_landed:
            return LEFT_ENGINE if turn > 0 else RIGHT_ENGINE
        return MAIN_ENGINE if lift > SPEED_DEADBAND else NO_ENGINE


def _clip(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))
