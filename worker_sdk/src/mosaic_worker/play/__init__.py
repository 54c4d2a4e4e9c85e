"""The play loop: one environment in which a human, a policy, or both in turns act.

The `play` and `evaluate` modes of every worker call `play(run, policy)`. Names are imported on
first use, because a worker's `--describe` needs only `PARAMETERS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mosaic_worker.play.actor import HUMAN, Actor, ActorFactory
    from mosaic_worker.play.loop import play
    from mosaic_worker.play.settings import PARAMETERS

_MODULES = {
    "HUMAN": "actor",
    "PARAMETERS": "settings",
    "Actor": "actor",
    "ActorFactory": "actor",
    "play": "loop",
}

__all__ = ["HUMAN", "PARAMETERS", "Actor", "ActorFactory", "play"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - costs start-up time otherwise

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
