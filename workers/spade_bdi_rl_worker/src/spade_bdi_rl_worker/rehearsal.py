"""What a dry run finds out without training: whatever would end the run at its start.

It needs what the bundle has; before that is installed, only what the standard library can tell.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic_worker.run import CHECKPOINT_VARIABLE
from spade_bdi_rl_worker.agent import check
from spade_bdi_rl_worker.messaging.light_import import import_spade
from spade_bdi_rl_worker.settings import agent_settings, resolved

if TYPE_CHECKING:
    from mosaic_worker import RunConfig
    from spade_bdi_rl_worker.settings import AgentSettings

_OF_THE_EXTRA = ("MiniGrid", "BabyAI")


def rehearse(config: RunConfig) -> RunConfig:
    """The run with every value that it will use.

    Raises `WorkerError` for an environment that cannot be made or that no table can hold, a
    checkpoint of another environment, plans that cannot be used, and a server that does not answer.
    """
    named = os.environ.get(CHECKPOINT_VARIABLE)
    checkpoint = Path(named) if named else None
    settled = resolved(config, is_warm=bool(named or config.raw.get("warm_start")))
    if find_spec("gymnasium") is not None and not _awaits_extra(settled.env_id):
        _check_environment(settled, checkpoint)
    if settled.mode == "train":
        settings = agent_settings(settled)
        check(settings)
        if settings.asl and find_spec("agentspeak") is not None:
            _check_plans(settled, settings)
    return settled


def _check_plans(config: RunConfig, settings: AgentSettings) -> None:
    import_spade()
    from spade_bdi_rl_worker.agent.plan_rehearsal import rehearse_plans  # noqa: PLC0415 - slow
    from spade_bdi_rl_worker.learning.learner import Progress  # noqa: PLC0415

    at_first = Progress(
        total_episodes=config.max_episodes,
        total_steps=config.total_timesteps,
        epsilon=config.params["epsilon_start"],
    )
    rehearse_plans(settings, at_first)


def _awaits_extra(env_id: str) -> bool:
    """Whether a run would install a package first that is not there yet."""
    name = env_id.rpartition(":")[2]
    return name.startswith(_OF_THE_EXTRA) and find_spec("minigrid") is None


def _check_environment(config: RunConfig, path: Path | None) -> None:
    from spade_bdi_rl_worker.checkpoints.identity import check_fits  # noqa: PLC0415 - slow
    from spade_bdi_rl_worker.checkpoints.table_file import read_table_file  # noqa: PLC0415
    from spade_bdi_rl_worker.learning.state_encoding import countable  # noqa: PLC0415
    from spade_bdi_rl_worker.learning.step_limit import make_limited  # noqa: PLC0415
    from spade_bdi_rl_worker.playing.table_player import played_with  # noqa: PLC0415

    checkpoint = read_table_file(path) if path is not None else None
    env_kwargs = config.env_kwargs
    if checkpoint is not None and config.mode != "train":
        env_kwargs = played_with(checkpoint, config)
    env = make_limited(config.env_id, env_kwargs, config.params["max_episode_steps"])
    try:
        encoding = countable(env)
        if checkpoint is not None:
            check_fits(checkpoint, env, encoding)
    finally:
        env.close()
