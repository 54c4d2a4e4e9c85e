"""From an actor that answers rows of observations to a policy that plays one environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cleanrl_worker.learning.action_bounds import ActionBounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from cleanrl_worker.session.checkpoint_file import Checkpoint


class ContinuousPolicy:
    """`act` takes rows of observations and returns rows of actions within their bounds."""

    def __init__(self, act: Callable[[Any], Any], action_space: dict[str, Any]) -> None:
        """`action_space` as the checkpoint describes it."""
        self._act = act
        self._shape = tuple(action_space["shape"])
        self._dtype = np.dtype(action_space["dtype"])

    def act(self, observation: Any) -> Any:
        rows = np.asarray(observation, dtype=np.float32).reshape(1, -1)
        return self._act(rows)[0].reshape(self._shape).astype(self._dtype)


def bounds_of(checkpoint: Checkpoint) -> ActionBounds:
    """Of the actions that its network was trained for."""
    return ActionBounds(checkpoint.policy["scaled.low"], checkpoint.policy["scaled.high"])
