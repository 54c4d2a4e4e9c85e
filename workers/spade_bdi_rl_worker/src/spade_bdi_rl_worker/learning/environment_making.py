"""Makes environments as the SDK does, and says in sentences alone what a person can mistype.

A traceback is kept for an environment of somebody's own whose code has raised.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

_NEWER = re.compile(r"use `([^`]+)` instead")
_MACHINERY = ("gymnasium", "importlib", "mosaic_worker")
"""Whoever raised in there was given something that is not there, or that it does not take."""


def made_environment(
    env_id: str, env_kwargs: Mapping[str, Any], max_episode_steps: int | None = None
) -> Any:
    """WorkerError says what is wrong with the id or the settings."""
    try:
        return make_environment(env_id, env_kwargs, max_episode_steps=max_episode_steps)
    except WorkerError as error:
        cause = error.__cause__
        newer = _NEWER.search(str(cause)) if _is_of_an_old_version(cause) else None
        if newer is not None:
            raise WorkerError(
                f"{env_id} is an old version, which is no longer there.",
                remedy=f"Use {newer[1]}.",
            ) from None
        if cause is None or _raised_in(cause) not in _MACHINERY:
            raise
        raise WorkerError(error.message, remedy=error.remedy) from None


def _is_of_an_old_version(cause: BaseException | None) -> bool:
    from gymnasium.error import DeprecatedEnv  # noqa: PLC0415 - slow to import

    return isinstance(cause, DeprecatedEnv)


def _raised_in(error: BaseException) -> str:
    """The package whose code raised it; gymnasium raises anew what a constructor has raised."""
    first = error.__cause__ or error.__context__ or error
    frame: TracebackType | None = first.__traceback__
    name = ""
    while frame is not None:
        name = str(frame.tb_frame.f_globals.get("__name__", ""))
        frame = frame.tb_next
    return name.partition(".")[0]
