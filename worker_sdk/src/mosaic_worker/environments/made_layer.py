"""Finds, among the wrappers around an environment, the object that `gymnasium.make` returned.

Episodes are recorded there: below it everything is made again from id and keywords, above it are
the user's own wrappers, which a replay does without.
"""

from __future__ import annotations

from typing import Any

_GUARDS = ("OrderEnforcing", "PassiveEnvChecker")
_TIME_LIMIT = "TimeLimit"


def made_layer(env: Any) -> Any:
    """The layer of `env` that `make` returned; the innermost one where it was not used."""
    layers = _layers(env)
    names = [type(layer).__name__ for layer in layers]
    at = len(layers) - 1
    for guard in _GUARDS:
        if guard in names:
            at = len(names) - 1 - names[::-1].index(guard)
            break
    if at and names[at - 1] == _TIME_LIMIT:
        at -= 1
    for name in _registered_wrappers(env):
        if at and names[at - 1] == name:
            at -= 1
    return layers[at]


def time_limit(made: Any) -> int | None:
    """How many steps an episode may have, as `make` was told or its registry says."""
    for layer in _layers(made):
        if type(layer).__name__ == _TIME_LIMIT:
            return int(layer._max_episode_steps)  # noqa: SLF001 - it has no public name
    return None


def _layers(env: Any) -> list[Any]:
    """From the outermost to the innermost."""
    layers = [env]
    innermost = getattr(env, "unwrapped", env)
    while layers[-1] is not innermost:
        inner = getattr(layers[-1], "env", None)
        if inner is None:
            break
        layers.append(inner)
    return layers


def _registered_wrappers(env: Any) -> list[str]:
    """Names of the wrappers that `make` puts around this environment beyond its own."""
    spec = getattr(getattr(env, "unwrapped", env), "spec", None)
    if spec is None:
        return []
    import gymnasium  # noqa: PLC0415 - optional, and start-up counts

    registered = gymnasium.registry.get(spec.id)
    return [wrapper.name for wrapper in getattr(registered, "additional_wrappers", ())]
