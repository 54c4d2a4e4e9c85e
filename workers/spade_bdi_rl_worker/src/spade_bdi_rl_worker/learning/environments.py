"""Creates environments with a step limit, and raises configuration errors without tracebacks.

Greedy actions can loop forever, and CliffWalking has no step limit. The limit is part of the
environment, so an episode that reaches it is truncated, and replays as such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.factory import make_environment, resolved_kwargs
from mosaic_worker.environments.inspection import time_limit
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

_DEFAULT_MAX_EPISODE_STEPS = 2_000
_REPLACEMENT = re.compile(r"use `([^`]+)` instead")
_LIBRARY_PACKAGES = ("gymnasium", "importlib", "mosaic_worker")
"""An exception raised by these means a wrong id or wrong arguments; its traceback does not help."""


def make_time_limited_env(env_id: str, env_kwargs: Mapping[str, Any], max_steps: int) -> Any:
    """Create the environment; with `max_steps` 0 it keeps its own limit, if it has one."""
    env = make_env(env_id, env_kwargs, max_steps or None)
    if time_limit(env) is not None:
        return env
    env_kwargs_used = resolved_kwargs(env)
    env.close()
    return make_env(env_id, env_kwargs_used, _DEFAULT_MAX_EPISODE_STEPS)


def time_limited_kwargs(
    env_id: str, env_kwargs: Mapping[str, Any], max_steps: int
) -> dict[str, Any]:
    """Return arguments that create the environment with a step limit."""
    if max_steps:
        return {**env_kwargs, "max_episode_steps": max_steps}
    env = make_env(env_id, env_kwargs)
    has_limit = time_limit(env) is not None
    env.close()
    if has_limit:
        return dict(env_kwargs)
    return {**env_kwargs, "max_episode_steps": _DEFAULT_MAX_EPISODE_STEPS}


def make_env(
    env_id: str, env_kwargs: Mapping[str, Any], max_episode_steps: int | None = None
) -> Any:
    """Create the environment. Raises `WorkerError` for a wrong id or wrong arguments.

    The error has a traceback only if the environment's own code raised it.
    """
    try:
        return make_environment(env_id, env_kwargs, max_episode_steps=max_episode_steps)
    except WorkerError as error:
        cause = error.__cause__
        replacement = _REPLACEMENT.search(str(cause)) if _is_deprecated_env(cause) else None
        if replacement is not None:
            raise WorkerError(
                f"{env_id} is a deprecated version and no longer available.",
                remedy=f"Use {replacement[1]}.",
            ) from None
        if cause is None or _raising_package(cause) not in _LIBRARY_PACKAGES:
            raise
        raise WorkerError(error.message, remedy=error.remedy) from None


def _is_deprecated_env(cause: BaseException | None) -> bool:
    from gymnasium.error import DeprecatedEnv  # noqa: PLC0415 - slow to import

    return isinstance(cause, DeprecatedEnv)


def _raising_package(error: BaseException) -> str:
    """Return the package that raised first; gymnasium re-raises exceptions of a constructor."""
    original = error.__cause__ or error.__context__ or error
    frame: TracebackType | None = original.__traceback__
    name = ""
    while frame is not None:
        name = str(frame.tb_frame.f_globals.get("__name__", ""))
        frame = frame.tb_next
    return name.partition(".")[0]
