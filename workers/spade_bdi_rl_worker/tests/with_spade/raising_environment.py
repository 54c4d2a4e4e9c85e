"""An environment that raises in a late step, for `env_id` raising_environment:Breaking-v0."""

from __future__ import annotations

from typing import Any

import gymnasium

LAST_STEP = 300


class Breaking(gymnasium.Env[Any, Any]):
    """Two states; step 300 divides by zero."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)
    steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return action, 1 / (LAST_STEP - self.steps), self.steps % 5 == 0, False, {}


gymnasium.register("Breaking-v0", f"{__name__}:Breaking")
