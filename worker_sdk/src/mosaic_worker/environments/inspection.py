"""Finds what a recording needs to know about an environment: its base, time limit and frame rate.

Episodes are recorded at the object that `gymnasium.make` returned: a replay creates it again from
its id and arguments, without the wrappers that a user adds around it.
"""

from __future__ import annotations

import math
from typing import Any

_CHECKING_WRAPPERS = ("OrderEnforcing", "PassiveEnvChecker")
_TIME_LIMIT = "TimeLimit"
_CONSOLE_FRAMES_PER_SECOND = 60.0


def find_made_env(env: Any) -> Any:
    """The object below `env` that `gymnasium.make` returned; the innermost if there is none."""
    layers = _layers(env)
    names = [type(layer).__name__ for layer in layers]
    index = len(layers) - 1
    for wrapper in _CHECKING_WRAPPERS:
        if wrapper in names:
            index = len(names) - 1 - names[::-1].index(wrapper)
            break
    if index and names[index - 1] == _TIME_LIMIT:
        index -= 1
    for name in _registered_wrappers(env):
        if index and names[index - 1] == name:
            index -= 1
    return layers[index]


def time_limit(base_env: Any) -> int | None:
    """The maximum number of steps of an episode, from `make` or the registry."""
    for layer in _layers(base_env):
        if type(layer).__name__ == _TIME_LIMIT:
            return int(layer._max_episode_steps)  # noqa: SLF001 - there is no public attribute
    return None


def _layers(env: Any) -> list[Any]:
    """Return the environment and its wrappers, from the outermost to the innermost."""
    layers = [env]
    innermost = getattr(env, "unwrapped", env)
    while layers[-1] is not innermost:
        inner = getattr(layers[-1], "env", None)
        if inner is None:
            break
        layers.append(inner)
    return layers


def _registered_wrappers(env: Any) -> list[str]:
    """Names of the additional wrappers that `make` applies to this environment."""
    spec = getattr(getattr(env, "unwrapped", env), "spec", None)
    if spec is None:
        return []
    import gymnasium  # noqa: PLC0415 - optional, and slow to import

    registered = gymnasium.registry.get(spec.id)
    return [wrapper.name for wrapper in getattr(registered, "additional_wrappers", ())]


def steps_per_second(env: Any) -> float | None:
    """The intended number of steps per second; None if the environment does not define it.

    Atari games report 30 for every frame skip, which is up to twice the speed of the console.
    """
    unwrapped = getattr(env, "unwrapped", env)
    if hasattr(unwrapped, "ale"):
        skipped = _mean_skip(getattr(unwrapped, "_frameskip", None))
        if skipped:
            return _CONSOLE_FRAMES_PER_SECOND / skipped
    fps = (getattr(unwrapped, "metadata", None) or {}).get("render_fps")
    if isinstance(fps, bool) or not isinstance(fps, (int, float)):
        return None
    return float(fps) if fps > 0 and math.isfinite(fps) else None


def _mean_skip(skip: Any) -> float:
    """`skip` is a number, or a range (upper bound excluded) that is sampled in each step."""
    if isinstance(skip, int):
        return float(skip)
    if isinstance(skip, (tuple, list)) and len(skip) == 2:
        return float(skip[0] + skip[1] - 1) / 2
    return 0.0
