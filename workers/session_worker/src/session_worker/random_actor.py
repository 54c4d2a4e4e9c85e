"""Acts at random, and the same way again for the same seed."""

from __future__ import annotations

import copy
from typing import Any


class RandomActor:
    """Draws from a copy of the action space, so that nobody else's draws come in between."""

    def __init__(self, env: Any, seed: int) -> None:
        self._space = copy.deepcopy(env.action_space)
        self._space.seed(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - of all actors
        return self._space.sample()
