"""Creates the learner of a run: environment, encoding, method, checkpoints and reporter."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.factory import resolved_kwargs
from mosaic_worker.environments.inspection import time_limit
from spade_bdi_rl_worker.checkpoints.compatibility import describe_environment, warm_start
from spade_bdi_rl_worker.checkpoints.table_saver import TableSaver
from spade_bdi_rl_worker.learning.environments import make_time_limited_env
from spade_bdi_rl_worker.learning.learner import TableLearner
from spade_bdi_rl_worker.learning.methods import METHODS
from spade_bdi_rl_worker.learning.schedules import EpsilonSchedule
from spade_bdi_rl_worker.learning.state_encoding import HashedStates, make_tabular_encoding
from spade_bdi_rl_worker.learning.tabular_env import GymEnv
from spade_bdi_rl_worker.learning.transition_table import read_transition_table
from spade_bdi_rl_worker.learning.transition_table_env import TransitionTableEnv
from spade_bdi_rl_worker.settings import (
    agent_settings,
    learning_settings,
    reported_agent_id,
    reporting_settings,
)
from spade_bdi_rl_worker.telemetry.episode_writer import EpisodeWriter
from spade_bdi_rl_worker.telemetry.reporter import Reporter
from spade_bdi_rl_worker.telemetry.sink import TRAINING_INFO

if TYPE_CHECKING:
    from mosaic_worker import Run
    from spade_bdi_rl_worker.learning.learner import IsSuccess
    from spade_bdi_rl_worker.learning.methods import Method
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding
    from spade_bdi_rl_worker.learning.tabular_env import TabularEnv
    from spade_bdi_rl_worker.settings import LearningSettings
    from spade_bdi_rl_worker.telemetry.sink import TelemetrySink

_PARTNER_SEED_OFFSET = 1_000_003  # so that partners see different episodes
_TERMINATION_IS_SUCCESS = ("CliffWalkingEnv", "TaxiEnv")
"""Every step has a negative reward, and only the goal terminates an episode."""


def make_learner(run: Run, sink: TelemetrySink) -> TableLearner:
    """Create the learner. Call `apply_presets` first.

    Raises `WorkerError` if the environment does not fit a table.
    """
    agent_id = reported_agent_id(agent_settings(run.config))
    return _make_learner(run, sink, run.config.env_kwargs, agent_id, is_partner=False)


def _make_learner(
    run: Run,
    sink: TelemetrySink,
    env_kwargs: dict[str, Any],
    agent_id: str | None,
    *,
    is_partner: bool,
) -> TableLearner:
    config = run.config
    settings = learning_settings(config)
    reporting = reporting_settings(config)
    env = make_time_limited_env(config.env_id, env_kwargs, settings.max_episode_steps)
    try:
        encoding = make_tabular_encoding(env)
        method = _make_method(settings, env)
        if isinstance(encoding, HashedStates):
            encoding.on_growth = method.grow
        else:
            method.grow(encoding.states)
        if run.checkpoint is not None:
            loaded = warm_start(run.checkpoint, env, encoding, method)
            sink.log(
                "info",
                TRAINING_INFO,
                f"Training starts from the table of {run.checkpoint.name}, trained for"
                f" {loaded.episodes} episodes.",
            )
        env_kwargs_used = resolved_kwargs(env)
        saver = TableSaver(
            run,
            describe_environment(env, encoding),
            env_kwargs_used,
            every_steps=reporting.checkpoint_every_steps,
            keep=reporting.keep_checkpoints,
            prefix=f"{agent_id}-" if is_partner else "",
        )
        tabular_env = _make_tabular_env(
            run,
            env,
            encoding,
            settings.seed + (_PARTNER_SEED_OFFSET if is_partner else 0),
            1 if is_partner else None,
            agent_id,
        )
    except BaseException:
        env.close()
        raise
    learner = TableLearner(
        tabular_env,
        encoding,
        method,
        EpsilonSchedule(
            settings.epsilon_start,
            settings.epsilon_end,
            settings.epsilon_fraction,
            settings.epsilon_schedule,
        ),
        settings,
        make_success_rule(env),
        Reporter(
            run,
            sink,
            saver,
            reporting,
            agent_id=agent_id,
            is_partner=is_partner,
            first_action=int(env.action_space.start),
        ),
        # The partner gets the same map, even if it was generated at random.
        None
        if is_partner
        else lambda name: _make_learner(run, sink, env_kwargs_used, name, is_partner=True),
    )
    sink.set_step_annotator(agent_id, learner.annotate_next_step)
    return learner


def make_success_rule(env: Any) -> IsSuccess:
    """Return the rule that decides whether an episode was successful.

    Most environments reward success only: FrozenLake, Blackjack and MiniGrid.
    """
    if type(env.unwrapped).__name__ in _TERMINATION_IS_SUCCESS:
        return lambda _, terminated: terminated
    return lambda episode_return, _: episode_return > 0


def _make_method(settings: LearningSettings, env: Any) -> Method:
    return METHODS[settings.algo](
        n_actions=int(env.action_space.n),
        initial_value=settings.initial_value,
        discount=settings.discount,
        rng=random.Random(settings.seed),  # noqa: S311 - not used for security
    )


def _make_tabular_env(
    run: Run,
    env: Any,
    encoding: StateEncoding,
    seed: int,
    env_index: int | None,
    agent_id: str | None,
) -> TabularEnv:
    table = read_transition_table(env, random.Random(seed))  # noqa: S311 - not used for security
    if table is None:
        return GymEnv(env, encoding, seed, run.recorder_for(agent_id), env_index)
    env.unwrapped.np_random = _make_generator(seed)
    detail = run.config.step_detail
    writer = EpisodeWriter(run.emitter, detail, env, env_index, agent_id)
    return TransitionTableEnv(env, table, time_limit(env), writer)


def _make_generator(seed: int) -> Any:
    """Return the generator that a reset with this seed gives an environment."""
    from gymnasium.utils import seeding  # noqa: PLC0415 - slow to import

    return seeding.np_random(seed)[0]
