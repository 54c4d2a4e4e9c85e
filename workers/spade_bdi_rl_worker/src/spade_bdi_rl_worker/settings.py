"""A run's configuration as typed settings of this worker.

Parameters that the user did not set are filled from `presets.py`. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.presets import preset_for

if TYPE_CHECKING:
    from mosaic_worker.run_config import RunConfig

ALONE, COACH, PAIR = "alone", "coach", "pair"
"""Values of the parameter `team`."""

MAX_WARM_EPSILON = 0.1
_POINTS_PER_CURVE = 500
_ASSUMED_EPISODE_STEPS = 20
"""Used to estimate the number of episodes of a run that is limited only by its steps."""
_DEFAULT_AGENT_NAME = "learner"


@dataclass(frozen=True)
class LearningSettings:
    """Hyperparameters and length of a training run."""

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
    """Truncate episodes after this many steps; 0: the environment's own limit."""
    steps_per_second: float = 0.0
    """Maximum speed; 0: unlimited."""


@dataclass(frozen=True)
class ReportingSettings:
    """How often metrics, the policy table and checkpoints are written."""

    metrics_every: int
    policy_every_s: float
    checkpoint_every_steps: int
    keep_checkpoints: int


@dataclass(frozen=True)
class AgentSettings:
    """Settings of the BDI agents, for `agent.run_agents`."""

    asl: str = ""
    """Path of the AgentSpeak file; empty: the plans bundled with the worker."""
    xmpp: str = ""
    """Empty: in-process messages; `embedded`: own server on loopback; or `host:port`."""
    team: str = ALONE
    """`alone`, `coach` (a coach sets the goals) or `pair` (two learners share their values)."""
    batch_episodes: int = 0
    """Episodes per `.learn` action; 0: 1/200 of the run, at most 500."""
    evaluate_every: int = 0
    """Episodes between evaluations; 0: the plans decide."""
    evaluation_episodes: int = 100
    goal_success_rate: float = 1.0
    """Success rate of an evaluation at which the goal is reached."""
    stop_when_reached: bool = False
    """Whether training stops when the goal is reached, before all episodes are played."""
    agent_name: str = _DEFAULT_AGENT_NAME
    seed: int = 1


def apply_presets(config: RunConfig, *, is_warm_start: bool = False) -> RunConfig:
    """Return the run configuration with presets for unset parameters.

    `is_warm_start`: training starts from the table of a checkpoint.
    """
    preset = preset_for(config.env_id, config.env_kwargs, config.algo)
    params: dict[str, Any] = {
        name: preset.get(name) if value is None else value for name, value in config.params.items()
    }
    if is_warm_start and config.params.get("epsilon_start") is None:
        # Mostly random actions would not use the loaded table; a few still improve it.
        max_epsilon = max(params["epsilon_end"], MAX_WARM_EPSILON)
        params["epsilon_start"] = min(params["epsilon_start"], max_epsilon)
    if params.get("learning_rate_end") is None:
        params["learning_rate_end"] = params["learning_rate"]
    max_episodes = config.max_episodes
    if max_episodes is None and config.total_timesteps is None:
        max_episodes = preset["episodes"]
    return config._replace(params=params, max_episodes=max_episodes)


def learning_settings(config: RunConfig) -> LearningSettings:
    """Read the learning settings. Call `apply_presets` first."""
    return LearningSettings(
        algo=config.algo,
        total_episodes=config.max_episodes,
        total_steps=config.total_timesteps,
        seed=config.seed,
        **_select_params(LearningSettings, config.params),
    )


def reporting_settings(config: RunConfig) -> ReportingSettings:
    """Read the reporting settings. Call `apply_presets` first."""
    checkpoints = (config.raw.get("artifacts") or {}).get("checkpoints") or {}
    if config.max_episodes is not None:
        default_every = config.max_episodes // _POINTS_PER_CURVE
    else:
        steps_per_point = _POINTS_PER_CURVE * _ASSUMED_EPISODE_STEPS
        default_every = (config.total_timesteps or 0) // steps_per_point
    return ReportingSettings(
        metrics_every=config.params["metrics_every"] or max(1, default_every),
        policy_every_s=config.params["policy_every_s"],
        checkpoint_every_steps=checkpoints.get("every_steps") or 0,
        keep_checkpoints=checkpoints.get("keep") or 3,
    )


def agent_settings(config: RunConfig) -> AgentSettings:
    """Read the parameters of the group Agent."""
    params = _select_params(AgentSettings, config.params)
    values = {
        **{name: value for name, value in params.items() if value != ""},
        "agent_name": str(config.raw.get("agent_id") or AgentSettings.agent_name),
        "seed": config.seed,
    }
    return AgentSettings(**values)


def learner_name(settings: AgentSettings) -> str:
    """Return the name of the learner that every team has."""
    is_taken = settings.team == COACH and settings.agent_name == COACH
    return _DEFAULT_AGENT_NAME if is_taken else settings.agent_name


def partner_name(settings: AgentSettings) -> str:
    """Return the name of the second learner of a pair."""
    return f"{learner_name(settings)}2"


def reported_agent_id(settings: AgentSettings) -> str | None:
    """Return the `agent_id` of the learner's events; None if it is the run's only agent."""
    return None if settings.team == ALONE else learner_name(settings)


def _select_params(settings_class: Any, params: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(settings_class)}
    return {name: value for name, value in params.items() if name in names and value is not None}
