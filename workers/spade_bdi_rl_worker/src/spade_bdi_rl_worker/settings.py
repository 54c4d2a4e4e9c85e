"""A run's configuration in this worker's own terms: what to learn with, and how the agent is made.

What a person did not set is what suits the environment (`presets.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.presets import preset_for

if TYPE_CHECKING:
    from mosaic_worker.run_config import RunConfig

_POINTS = 500
WARM_EPSILON = 0.1
_SHORT_EPISODE = 20
"""Steps; where only their number is known, that of episodes is guessed."""


@dataclass(frozen=True)
class LearningSettings:
    """How a table is learnt, and for how long."""

    algo: str
    learning_rate: float
    learning_rate_end: float
    discount: float
    epsilon_start: float
    epsilon_end: float
    epsilon_fraction: float
    epsilon_schedule: str
    initial_value: float
    total_episodes: int | None
    total_steps: int | None
    seed: int
    max_episode_steps: int = 0
    """After which an episode is cut; 0: as the environment says."""
    steps_per_second: float = 0.0
    """At most, so that people can watch; 0: as fast as it can."""


@dataclass(frozen=True)
class TellingSettings:
    """What is told and kept of a training."""

    metrics_every: int
    policy_every_s: float
    checkpoint_every_steps: int
    keep_checkpoints: int


@dataclass(frozen=True)
class AgentSettings:
    """How the BDI agent is made, and with whom it works. Read by `agent.run`."""

    asl: str = ""
    """The file of its plans; empty: the ones that come with the worker."""
    xmpp: str = ""
    """Empty: in the container, `embedded`: a server of its own on loopback, or `host:port`."""
    team: str = "alone"
    """`alone`, `coach` (a coach sets the goals) or `pair` (two learners share what they know)."""
    batch_episodes: int = 0
    """Learnt in one action; 0: a 200th of the run, 500 at most."""
    evaluate_every: int = 0
    """Episodes between evaluations; 0: the plans decide."""
    evaluation_episodes: int = 100
    goal_success_rate: float = 1.0
    """What the agent is to reach in an evaluation before it is done."""
    stop_when_reached: bool = False
    """Whether training ends when the goal is reached, before all episodes are played."""
    agent_name: str = "learner"
    seed: int = 1


def resolved(config: RunConfig, *, is_warm: bool = False) -> RunConfig:
    """The run with every value that it will use; what a person set stays.

    `is_warm`: it begins with a table that was learnt before.
    """
    preset = preset_for(config.env_id, config.env_kwargs, config.algo)
    params: dict[str, Any] = {
        name: preset.get(name) if value is None else value for name, value in config.params.items()
    }
    if is_warm and config.params.get("epsilon_start") is None:
        # Acting at random would hide what is known already; some of it shows what is not.
        most = max(params["epsilon_end"], WARM_EPSILON)
        params["epsilon_start"] = min(params["epsilon_start"], most)
    if params.get("learning_rate_end") is None:
        params["learning_rate_end"] = params["learning_rate"]
    max_episodes = config.max_episodes
    if max_episodes is None and config.total_timesteps is None:
        max_episodes = preset["episodes"]
    return config._replace(params=params, max_episodes=max_episodes)


def learning_settings(config: RunConfig) -> LearningSettings:
    """Of a resolved run."""
    return LearningSettings(
        algo=config.algo,
        total_episodes=config.max_episodes,
        total_steps=config.total_timesteps,
        seed=config.seed,
        **_chosen(LearningSettings, config.params),
    )


def telling_settings(config: RunConfig) -> TellingSettings:
    """Of a resolved run."""
    checkpoints = (config.raw.get("artifacts") or {}).get("checkpoints") or {}
    if config.max_episodes is not None:
        about = config.max_episodes // _POINTS
    else:
        about = (config.total_timesteps or 0) // (_POINTS * _SHORT_EPISODE)
    every = config.params["metrics_every"] or max(1, about)
    return TellingSettings(
        metrics_every=every,
        policy_every_s=config.params["policy_every_s"],
        checkpoint_every_steps=checkpoints.get("every_steps") or 0,
        keep_checkpoints=checkpoints.get("keep") or 3,
    )


def agent_settings(config: RunConfig) -> AgentSettings:
    """The values of the group Agent, as the descriptor names them."""
    name = str(config.raw.get("agent_id") or AgentSettings.agent_name)
    given = {
        **{key: each for key, each in _chosen(AgentSettings, config.params).items() if each != ""},
        "agent_name": name,
        "seed": config.seed,
    }
    return AgentSettings(**given)


def _chosen(kind: Any, params: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in params.items() if name in names and value is not None}
