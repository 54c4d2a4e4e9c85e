"""The `environment` line, and render hints for views that cannot draw a step from its observation.

The line contains what creates the environment again, or why its episodes cannot be replayed.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.factory import resolved_id, resolved_kwargs
from mosaic_worker.environments.inspection import steps_per_second, time_limit
from mosaic_worker.environments.spaces import describe_space
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable

_MINIGRID = "minigrid."
_BLACKJACK = "BlackjackEnv"
_ALWAYS_LISTED = ("gymnasium", "numpy")
_DISTRIBUTIONS = {
    "ale_py": ("ale-py",),
    "gymnasium.envs.box2d": ("box2d", "Box2D"),
    "gymnasium.envs.mujoco": ("mujoco",),
}


def describe_environment(base_env: Any) -> dict[str, Any]:
    """The fields of the line; with `not_replayable` if no process can create it again."""
    env_id = resolved_id(base_env)
    fields: dict[str, Any] = {"env_id": env_id or _class_name(base_env)}
    if not env_id:
        fields["not_replayable"] = (
            "The environment was not created by an id that another process could use."
        )
    try:
        fields["env_kwargs"] = resolved_kwargs(base_env)
    except WorkerError as error:
        fields["not_replayable"] = error.message
    fields.update(
        max_episode_steps=time_limit(base_env),
        action_space=describe_space(getattr(base_env, "action_space", None)),
        observation_space=describe_space(getattr(base_env, "observation_space", None)),
        action_meanings=_action_meanings(base_env),
        render_fps=steps_per_second(base_env),
        packages=_packages(base_env),
    )
    return fields


def _class_name(base_env: Any) -> str:
    kind = type(getattr(base_env, "unwrapped", base_env))
    return f"{kind.__module__}:{kind.__qualname__}"


def _action_meanings(base_env: Any) -> list[str] | None:
    meanings = getattr(getattr(base_env, "unwrapped", base_env), "get_action_meanings", None)
    if not callable(meanings):
        return None
    try:
        return [str(meaning) for meaning in meanings()]
    except (TypeError, AttributeError, NotImplementedError):
        return None


def _packages(base_env: Any) -> dict[str, str]:
    """Versions of the packages that the dynamics depend on; the config line lists all."""
    from importlib import metadata  # noqa: PLC0415 - slow to import

    names = list(_ALWAYS_LISTED)
    for base in type(getattr(base_env, "unwrapped", base_env)).__mro__:
        root = base.__module__.partition(".")[0]
        names.append(root)
        for package, distributions in _DISTRIBUTIONS.items():
            if base.__module__.startswith(package):
                names.extend(distributions)
    versions = {"python": platform.python_version()}
    for name in names:
        if name not in versions and name not in ("builtins", "typing", "__main__"):
            try:
                versions[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
    return versions


def make_render_hint(env: Any) -> Callable[[], dict[str, Any]] | None:
    """A function that returns the hint of the newest step; None if observations suffice."""
    unwrapped = getattr(env, "unwrapped", env)
    if _is_from_package(unwrapped, _MINIGRID) and hasattr(unwrapped, "grid"):
        return lambda: _grid_hint(unwrapped)
    if type(unwrapped).__name__ == _BLACKJACK:
        return lambda: {"player": _cards(unwrapped.player), "dealer": _cards(unwrapped.dealer)}
    return None


def _grid_hint(unwrapped: Any) -> dict[str, Any]:
    """Every cell as MiniGrid encodes it, and the agent, which that encoding omits."""
    column, row = unwrapped.agent_pos
    hint = {
        "grid": unwrapped.grid.encode().tolist(),
        "agent": [int(column), int(row)],
        "dir": int(unwrapped.agent_dir),
    }
    if unwrapped.carrying is not None:
        hint["carrying"] = [int(code) for code in unwrapped.carrying.encode()]
    return hint


def _cards(hand: Any) -> list[int]:
    return [int(card) for card in hand]


def _is_from_package(unwrapped: Any, package: str) -> bool:
    return any(base.__module__.startswith(package) for base in type(unwrapped).__mro__)
