"""The play loop: one environment, in which a person, an agent, or both in turns act.

Every worker's `play` and `evaluate` mode is `play(run, its policy)`. Names are imported when they
are first used: a worker's `--describe` needs only `PARAMETERS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mosaic_worker.play.actor import HUMAN, Actor, ActorFactory
    from mosaic_worker.play.loop import play
    from mosaic_worker.play.settings import PARAMETERS

_HOME_OF = {
    "HUMAN": "actor",
    "PARAMETERS": "settings",
    "Actor": "actor",
    "ActorFactory": "actor",
    "play": "loop",
}

__all__ = ["HUMAN", "PARAMETERS", "Actor", "ActorFactory", "play"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - costs start-up time otherwise

    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
