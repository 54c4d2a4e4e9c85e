"""What a run's configuration says about how to play, and the parameters that say it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.errors import ConfigError
from mosaic_worker.parameter import Parameter
from mosaic_worker.play.actor import HUMAN

if TYPE_CHECKING:
    from mosaic_worker.run_config import RunConfig

PARAMETERS = (
    Parameter(
        "tick_ms", "float", None, min=1.0, max=60_000.0, unit="ms", group="Pace",
        help="Time between steps at normal speed. Not set: as the environment is meant to run.",
    ),
    Parameter(
        "speed", "float", None, min=0.0, max=1000.0, unit="x", group="Pace",
        help="Times normal speed; 0 is as fast as it can. Not set: 1 to play, 0 to evaluate.",
    ),
    Parameter(
        "turn_based", "bool", None, group="Pace",
        help="Wait for a person's action before each step. Not set: in board-like environments.",
    ),
    Parameter(
        "auto_reset", "bool", True, group="Episodes",
        help="Begin the next episode by itself when one is over.",
    ),
    Parameter(
        "start_paused", "bool", False, group="Episodes",
        help="Show the beginning of the first episode and wait.",
    ),
    Parameter(
        "idle_action", "str", "", group="Person",
        help="The action while a person gives none, as JSON. Empty: 0, or zeros.",
    ),
)  # fmt: skip
"""For the algorithms of a worker that plays; each may be left out, and then has its default."""

DEFAULT_EVALUATION_EPISODES = 10


class Settings(NamedTuple):
    """How to play. None: decided by the environment, or by who acts."""

    tick_s: float | None
    speed: float | None
    turn_based: bool | None
    auto_reset: bool
    start_paused: bool
    idle_action: Any
    frames: bool
    is_evaluation: bool
    is_attended: bool
    """Whether somebody is there to take over: such runs have a lease."""
    actor: str
    seeds: tuple[int, ...]
    episodes: int | None
    steps: int | None

    @property
    def first_speed(self) -> float:
        """An evaluation waits for nobody, unless a person is evaluated."""
        if self.speed is not None:
            return self.speed
        return 0.0 if self.is_evaluation and self.actor != HUMAN else 1.0


def settings_of(config: RunConfig) -> Settings:
    """Of this run; ConfigError names what is wrong with it."""
    params = config.params
    is_evaluation = config.mode == "evaluate"
    tick_ms = params.get("tick_ms")
    telemetry = config.raw.get("telemetry")
    seeds = tuple(config.raw.get("seeds") or ())
    return Settings(
        tick_s=None if tick_ms is None else tick_ms / 1000,
        speed=params.get("speed"),
        turn_based=params.get("turn_based"),
        auto_reset=is_evaluation or params.get("auto_reset", True),
        start_paused=params.get("start_paused", False),
        idle_action=_idle_action(params.get("idle_action", "")),
        frames=isinstance(telemetry, dict) and telemetry.get("frames") is True,
        is_evaluation=is_evaluation,
        is_attended=config.raw.get("lease_s") is not None and not is_evaluation,
        actor=config.raw.get("actor") or "",
        seeds=seeds,
        episodes=_episodes(config, len(seeds)),
        steps=config.total_timesteps,
    )


def _episodes(config: RunConfig, seeds: int) -> int | None:
    """How many episodes end the run."""
    limits = [config.raw.get("episodes"), config.max_episodes]
    given = [limit for limit in limits if limit is not None]
    if given:
        return int(min(given))
    if config.mode != "evaluate" or (config.total_timesteps is not None and not seeds):
        return None
    return seeds or DEFAULT_EVALUATION_EPISODES


def _idle_action(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigError(
            "params.idle_action",
            f"{text!r} is not JSON ({error}).",
            remedy="Write a number such as 0, or a list such as [0.0, 0.0].",
        ) from None
