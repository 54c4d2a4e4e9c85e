"""LunarLander, discrete and continuous: fall no faster than the height allows, tilt to the pad."""

from __future__ import annotations

from typing import Any

import numpy as np

NOTHING, LEFT_ENGINE, MAIN_ENGINE, RIGHT_ENGINE = range(4)

MOST_TILT = 0.35
TILT_DEADBAND = 0.06
SPEED_DEADBAND = 0.05


class LanderPilot:
    """Two rules: the tilt steers sideways, and the main engine keeps to a speed of descent."""

    def __init__(self, env: Any) -> None:
        self._is_continuous = hasattr(env.action_space, "low")

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - of all actors
        x, y, speed_x, speed_y, tilt, turning, left_leg, right_leg = map(float, observation)
        landed = bool(left_leg or right_leg)
        wanted_tilt = 0.0 if landed else _clipped(0.5 * x + 1.0 * speed_x, MOST_TILT)
        turn = 0.6 * (wanted_tilt - tilt) - 0.7 * turning
        wanted_speed_y = 0.0 if landed else -0.12 - 0.45 * max(0.0, y - 0.3 * abs(x))
        lift = wanted_speed_y - speed_y
        return self._action(turn, lift, landed)

    def _action(self, turn: float, lift: float, landed: bool) -> Any:
        if self._is_continuous:
            main = 0.2 + lift if lift > SPEED_DEADBAND else -1.0
            side = 0.0 if landed else -turn * 10
            return np.array([_clipped(main, 1.0), _clipped(side, 1.0)], dtype=np.float32)
        if lift > SPEED_DEADBAND and lift > abs(turn):
            return MAIN_ENGINE
        if abs(turn) > TILT_DEADBAND and not landed:
            return LEFT_ENGINE if turn > 0 else RIGHT_ENGINE
        return MAIN_ENGINE if lift > SPEED_DEADBAND else NOTHING


def _clipped(value: float, most: float) -> float:
    return max(-most, min(most, value))
