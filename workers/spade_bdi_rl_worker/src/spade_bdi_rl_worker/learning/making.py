"""Makes a learner for a run: its environment, its world, its table, and who reports on it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.factory import resolved_kwargs
from mosaic_worker.environments.inspection import time_limit
from spade_bdi_rl_worker.checkpoints.identity import identity_of
from spade_bdi_rl_worker.checkpoints.keeper import CheckpointKeeper
from spade_bdi_rl_worker.checkpoints.warm_start import warm_start
from spade_bdi_rl_worker.learning.environment_world import EnvironmentWorld
from spade_bdi_rl_worker.learning.exploration import Exploration
from spade_bdi_rl_worker.learning.goals import success_rule
from spade_bdi_rl_worker.learning.learner import Learner
from spade_bdi_rl_worker.learning.methods import METHODS
from spade_bdi_rl_worker.learning.state_encoding import HashedStates, countable
from spade_bdi_rl_worker.learning.step_limit import make_limited
from spade_bdi_rl_worker.learning.table_world import TableWorld
from spade_bdi_rl_worker.learning.transition_table import read_table
from spade_bdi_rl_worker.settings import agent_settings, learning_settings, telling_settings
from spade_bdi_rl_worker.teams.names import told_as
from spade_bdi_rl_worker.telemetry.episode_track import EpisodeTrack
from spade_bdi_rl_worker.telemetry.reporter import Reporter
from spade_bdi_rl_worker.telemetry.run_outlet import TRAINING_NOTE

if TYPE_CHECKING:
    from mosaic_worker import Run
    from spade_bdi_rl_worker.learning.methods import Method
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding
    from spade_bdi_rl_worker.learning.world import World
    from spade_bdi_rl_worker.settings import LearningSettings
    from spade_bdi_rl_worker.telemetry.outlet import Outlet

_PARTNER_SEED = 1_000_003  # added, so that partners see other episodes


def make_learner(run: Run, outlet: Outlet) -> Learner:
    """Of a resolved run. WorkerError when there is no table for its environment."""
    agent_id = told_as(agent_settings(run.config))
    return _make(run, outlet, run.config.env_kwargs, agent_id, is_partner=False)


def _make(
    run: Run,
    outlet: Outlet,
    env_kwargs: dict[str, Any],
    agent_id: str | None,
    *,
    is_partner: bool,
) -> Learner:
    config = run.config
    settings = learning_settings(config)
    telling = telling_settings(config)
    env = make_limited(config.env_id, env_kwargs, settings.max_episode_steps)
    try:
        encoding = countable(env)
        method = _method(settings, env)
        if isinstance(encoding, HashedStates):
            encoding.on_new = method.grow
        else:
            method.grow(encoding.states)
        if run.checkpoint is not None:
            begun = warm_start(run.checkpoint, env, encoding, method)
            outlet.say(
                "info",
                TRAINING_NOTE,
                f"Begins with the table of {run.checkpoint.name}, learnt in {begun.episodes}"
                " episodes.",
            )
        made_with = resolved_kwargs(env)
        keeper = CheckpointKeeper(
            run,
            identity_of(env, encoding),
            made_with,
            every_steps=telling.checkpoint_every_steps,
            keep=telling.keep_checkpoints,
            prefix=f"{agent_id}-" if is_partner else "",
        )
        world = _world(
            run,
            env,
            encoding,
            settings.seed + (_PARTNER_SEED if is_partner else 0),
            1 if is_partner else None,
            agent_id,
        )
    except BaseException:
        env.close()
        raise
    learner = Learner(
        world,
        encoding,
        method,
        Exploration(
            settings.epsilon_start,
            settings.epsilon_end,
            settings.epsilon_fraction,
            settings.epsilon_schedule,
        ),
        settings,
        success_rule(env),
        Reporter(
            run,
            outlet,
            keeper,
            telling,
            agent_id=agent_id,
            is_partner=is_partner,
            first_action=int(env.action_space.start),
        ),
        # With the very map that was drawn here, if it was drawn at random.
        None if is_partner else lambda name: _make(run, outlet, made_with, name, is_partner=True),
    )
    outlet.note_on(agent_id, learner.note)
    return learner


def _method(settings: LearningSettings, env: Any) -> Method:
    return METHODS[settings.algo](
        actions=int(env.action_space.n),
        initial=settings.initial_value,
        discount=settings.discount,
        chance=random.Random(settings.seed),  # noqa: S311 - no secret
    )


def _world(
    run: Run,
    env: Any,
    encoding: StateEncoding,
    seed: int,
    env_index: int | None,
    agent_id: str | None,
) -> World:
    table = read_table(env, random.Random(seed))  # noqa: S311 - no secret
    if table is None:
        return EnvironmentWorld(env, encoding, seed, run.recorder_for(agent_id), env_index)
    env.unwrapped.np_random = _generator(seed)
    detail = run.config.step_detail
    track = EpisodeTrack(run.emitter, detail, env, env_index, agent_id)
    return TableWorld(env, table, time_limit(env), track)


def _generator(seed: int) -> Any:
    """What a reset with that seed gives an environment."""
    from gymnasium.utils import seeding  # noqa: PLC0415 - slow to import

    return seeding.np_random(seed)[0]
