"""CartPole: push to the side to which the pole is going to fall."""

from __future__ import annotations

from typing import Any

LEFT, RIGHT = 0, 1


class PoleBalancer:
    """Leans the pole a little towards the middle of the track, so that the cart comes back."""

    def __init__(self, env: Any) -> None:
        """Plays by the observation alone."""

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - of all actors
        position, speed, angle, turning = (float(value) for value in observation)
        leaning = angle + 0.5 * turning + 0.05 * position + 0.1 * speed
        return RIGHT if leaning > 0 else LEFT
