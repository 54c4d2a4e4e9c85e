"""The `environment` line: how an environment was made, and whether its episodes can be replayed."""

from __future__ import annotations

import platform
from typing import Any

from mosaic_worker.environments.made_layer import time_limit
from mosaic_worker.environments.making import resolved_id, resolved_kwargs
from mosaic_worker.environments.pace import steps_per_second
from mosaic_worker.environments.spaces import describe_space
from mosaic_worker.errors import WorkerError

_ALWAYS = ("gymnasium", "numpy")
_DISTRIBUTIONS = {
    "ale_py": ("ale-py",),
    "gymnasium.envs.box2d": ("box2d", "Box2D"),
    "gymnasium.envs.mujoco": ("mujoco",),
}


def environment_fields(made: Any) -> dict[str, Any]:
    """The fields of the line; `not_replayable` among them when no process could make it again."""
    env_id = resolved_id(made)
    fields: dict[str, Any] = {"env_id": env_id or _name_of(made)}
    if not env_id:
        fields["not_replayable"] = (
            "The environment was not made by an id that another process could use."
        )
    try:
        fields["env_kwargs"] = resolved_kwargs(made)
    except WorkerError as error:
        fields["not_replayable"] = error.message
    fields.update(
        max_episode_steps=time_limit(made),
        action_space=describe_space(getattr(made, "action_space", None)),
        observation_space=describe_space(getattr(made, "observation_space", None)),
        action_meanings=_action_meanings(made),
        render_fps=steps_per_second(made),
        packages=_packages(made),
    )
    return fields


def _name_of(made: Any) -> str:
    kind = type(getattr(made, "unwrapped", made))
    return f"{kind.__module__}:{kind.__qualname__}"


def _action_meanings(made: Any) -> list[str] | None:
    meanings = getattr(getattr(made, "unwrapped", made), "get_action_meanings", None)
    if not callable(meanings):
        return None
    try:
        return [str(word) for word in meanings()]
    except (TypeError, AttributeError, NotImplementedError):
        return None


def _packages(made: Any) -> dict[str, str]:
    """Versions of what the episodes' course depends on; the run's config line lists the rest."""
    from importlib import metadata  # noqa: PLC0415 - slow to import

    wanted = list(_ALWAYS)
    for base in type(getattr(made, "unwrapped", made)).__mro__:
        root = base.__module__.partition(".")[0]
        wanted.append(root)
        for home, names in _DISTRIBUTIONS.items():
            if base.__module__.startswith(home):
                wanted.extend(names)
    found = {"python": platform.python_version()}
    for name in wanted:
        if name not in found and name not in ("builtins", "typing", "__main__"):
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
    return found
