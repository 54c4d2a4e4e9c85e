"""PlaySettings: how a run plays, from its configuration; and the parameters of the play loop."""

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
        help="Time between steps at normal speed. Default: from the environment.",
    ),
    Parameter(
        "speed", "float", None, min=0.0, max=1000.0, unit="x", group="Pace",
        help="Speed factor; 0 is unlimited. Default: 1 to play, 0 to evaluate.",
    ),
    Parameter(
        "turn_based", "bool", None, group="Pace",
        help="Wait for a human action before each step. Default: in turn-based environments.",
    ),
    Parameter(
        "auto_reset", "bool", True, group="Episodes",
        help="Start the next episode automatically. Default: true.",
    ),
    Parameter(
        "start_paused", "bool", False, group="Episodes",
        help="Pause before the first step. Default: false.",
    ),
    Parameter(
        "idle_action", "str", "", group="Human",
        help="Action without human input, as JSON. Default: 0 or zeros.",
    ),
)  # fmt: skip
"""For the algorithms of a worker that plays; omitted parameters have their default."""

DEFAULT_EVALUATION_EPISODES = 10


class PlaySettings(NamedTuple):
    """How to play. None: decided by the environment or the actor."""

    tick_s: float | None
    speed: float | None
    turn_based: bool | None
    auto_reset: bool
    start_paused: bool
    idle_action: Any
    frames: bool
    is_evaluation: bool
    is_attended: bool
    """Whether a client holds a lease on the run, so that a human can take over."""
    actor: str
    seeds: tuple[int, ...]
    episodes: int | None
    steps: int | None

    @property
    def initial_speed(self) -> float:
        """The initial speed: unlimited for the evaluation of a policy, else normal."""
        if self.speed is not None:
            return self.speed
        return 0.0 if self.is_evaluation and self.actor != HUMAN else 1.0


def read_settings(config: RunConfig) -> PlaySettings:
    """The settings of this run. Raises ConfigError."""
    params = config.params
    is_evaluation = config.mode == "evaluate"
    tick_ms = params.get("tick_ms")
    telemetry = config.raw.get("telemetry")
    seeds = tuple(config.raw.get("seeds") or ())
    return PlaySettings(
        tick_s=None if tick_ms is None else tick_ms / 1000,
        speed=params.get("speed"),
        turn_based=params.get("turn_based"),
        auto_reset=is_evaluation or params.get("auto_reset", True),
        start_paused=params.get("start_paused", False),
        idle_action=_parse_idle_action(params.get("idle_action", "")),
        frames=isinstance(telemetry, dict) and telemetry.get("frames") is True,
        is_evaluation=is_evaluation,
        is_attended=config.raw.get("lease_s") is not None and not is_evaluation,
        actor=config.raw.get("actor") or "",
        seeds=seeds,
        episodes=_episode_limit(config, len(seeds)),
        steps=config.total_timesteps,
    )


def _episode_limit(config: RunConfig, seeds: int) -> int | None:
    """The number of episodes after which the run ends."""
    limits = [config.raw.get("episodes"), config.max_episodes]
    given = [limit for limit in limits if limit is not None]
    if given:
        return int(min(given))
    if config.mode != "evaluate" or (config.total_timesteps is not None and not seeds):
        return None
    return seeds or DEFAULT_EVALUATION_EPISODES


def _parse_idle_action(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigError(
            "params.idle_action",
            f"{text!r} is not JSON ({error}).",
            remedy="Use a number such as 0, or a list such as [0.0, 0.0].",
        ) from None


class SeedSchedule:
    """Chooses the seed of the next episode.

    An evaluation seeds every episode, so that it can be repeated and compared. In play only the
    first episode uses the run's seed; later ones are random, and their recorded start replays them.
    """

    def __init__(self, seed: int, settings: PlaySettings) -> None:
        self._seed = seed
        self._seeds = settings.seeds
        self._is_evaluation = settings.is_evaluation
        self._is_first = True

    def next(self, played: int, actor_seed: int | None) -> int | None:
        """`played` is the number of finished episodes; `actor_seed` is required by the actor."""
        is_first, self._is_first = self._is_first, False
        if self._is_evaluation:
            return self._evaluation_seed(played)
        if actor_seed is not None:
            return actor_seed
        return self._seed if is_first else None

    def _evaluation_seed(self, played: int) -> int:
        if not self._seeds:
            return self._seed + played
        beyond = max(0, played - len(self._seeds) + 1)
        return self._seeds[min(played, len(self._seeds) - 1)] + beyond
