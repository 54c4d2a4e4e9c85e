"""Actions of a space: whether a choice is one, and what doing nothing is."""

from __future__ import annotations

from typing import Any

from mosaic_worker.environments.spaces import to_action
from mosaic_worker.errors import WorkerError

_MOST_SHOWN = 80


def fitted_action(space: Any, choice: Any) -> Any:
    """`choice`, of an actor or from JSON, as an action of `space`; WorkerError when it is none."""
    if type(space).__name__ == "Discrete":
        return to_action(space, choice)  # a plain number: gymnasium is slow with numpy's
    if hasattr(choice, "dtype") and space.contains(choice):
        return choice  # plain values pass too, but not every environment can compute with lists
    to_list = getattr(choice, "tolist", None)
    action = to_action(space, choice if to_list is None else to_list())
    if not space.contains(action):
        shown = repr(choice)
        shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…"
        raise WorkerError(f"{shown} is no action of {space}.", remedy="Choose one that fits.")
    return action


def idle_action(space: Any) -> Any:
    """Doing nothing, as far as one can tell: 0, or zeros within the bounds."""
    import numpy as np  # noqa: PLC0415 - optional, and start-up counts
    from gymnasium import spaces  # noqa: PLC0415

    if isinstance(space, spaces.Discrete):
        return int(space.start)
    if isinstance(space, spaces.Box):
        return np.clip(np.zeros(space.shape, space.dtype), space.low, space.high)
    if isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary)):
        return np.zeros(space.shape, space.dtype) + getattr(space, "start", 0)
    if isinstance(space, spaces.Tuple):
        return tuple(idle_action(part) for part in space.spaces)
    if isinstance(space, spaces.Dict):
        return {name: idle_action(part) for name, part in space.spaces.items()}
    return space.sample()
