"""CartPole: push towards the side to which the pole falls."""

from __future__ import annotations

from typing import Any

LEFT, RIGHT = 0, 1


class PoleBalancer:
    """Tilts the pole slightly towards the centre, so that the cart returns."""

    def __init__(self, env: Any) -> None:
        """Needs only the observations."""

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - interface
        position, speed, angle, angular_speed = (float(value) for value in observation)
        lean = angle + 0.5 * angular_speed + 0.05 * position + 0.1 * speed
        return RIGHT if lean > 0 else LEFT
