"""Checks of a dry run: everything that would make a run fail at its start, without training.

Checks that need packages of the bundle are skipped while the bundle is not installed.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic_worker.run import CHECKPOINT_VARIABLE
from spade_bdi_rl_worker.agent import check_settings
from spade_bdi_rl_worker.messaging.stub_imports import import_spade
from spade_bdi_rl_worker.settings import agent_settings, apply_presets

if TYPE_CHECKING:
    from mosaic_worker import RunConfig
    from spade_bdi_rl_worker.settings import AgentSettings

_MINIGRID_PREFIXES = ("MiniGrid", "BabyAI")


def check_run(config: RunConfig) -> RunConfig:
    """Return the run configuration with all presets applied.

    Raises `WorkerError` for an environment that cannot be created or has no tabular states, a
    checkpoint of another environment, invalid plans, and an XMPP server that does not answer.
    """
    checkpoint_path = os.environ.get(CHECKPOINT_VARIABLE)
    checkpoint = Path(checkpoint_path) if checkpoint_path else None
    is_warm_start = bool(checkpoint_path or config.raw.get("warm_start"))
    config = apply_presets(config, is_warm_start=is_warm_start)
    if find_spec("gymnasium") is not None and not _is_extra_missing(config.env_id):
        _check_environment(config, checkpoint)
    if config.mode == "train":
        settings = agent_settings(config)
        check_settings(settings)
        if settings.asl and find_spec("agentspeak") is not None:
            _check_plans(config, settings)
    return config


def _check_plans(config: RunConfig, settings: AgentSettings) -> None:
    import_spade()
    from spade_bdi_rl_worker.agent.plan_check import check_plans  # noqa: PLC0415 - slow
    from spade_bdi_rl_worker.learning.learner import LearningProgress  # noqa: PLC0415

    initial_progress = LearningProgress(
        total_episodes=config.max_episodes,
        total_steps=config.total_timesteps,
        epsilon=config.params["epsilon_start"],
    )
    check_plans(settings, initial_progress)


def _is_extra_missing(env_id: str) -> bool:
    """Whether the environment needs the extra `minigrid`, which a run would install first."""
    name = env_id.rpartition(":")[2]
    return name.startswith(_MINIGRID_PREFIXES) and find_spec("minigrid") is None


def _check_environment(config: RunConfig, checkpoint_path: Path | None) -> None:
    from spade_bdi_rl_worker.checkpoints.compatibility import check_compatible  # noqa: PLC0415
    from spade_bdi_rl_worker.checkpoints.table_file import read_table_file  # noqa: PLC0415
    from spade_bdi_rl_worker.learning.environments import make_time_limited_env  # noqa: PLC0415
    from spade_bdi_rl_worker.learning.state_encoding import make_tabular_encoding  # noqa: PLC0415
    from spade_bdi_rl_worker.table_actor import select_env_kwargs  # noqa: PLC0415

    checkpoint = read_table_file(checkpoint_path) if checkpoint_path is not None else None
    env_kwargs = config.env_kwargs
    if checkpoint is not None and config.mode != "train":
        env_kwargs = select_env_kwargs(checkpoint, config)
    env = make_time_limited_env(config.env_id, env_kwargs, config.params["max_episode_steps"])
    try:
        encoding = make_tabular_encoding(env)
        if checkpoint is not None:
            check_compatible(checkpoint, env, encoding)
    finally:
        env.close()
