"""The `play` and `evaluate` modes: a saved action-value table as an actor of the play loop."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.play import play
from spade_bdi_rl_worker.checkpoints.compatibility import check_compatible
from spade_bdi_rl_worker.checkpoints.table_file import read_table_file
from spade_bdi_rl_worker.learning.action_values import (
    ActionValues,
    make_policy_table,
    pick_first,
)
from spade_bdi_rl_worker.learning.environments import time_limited_kwargs
from spade_bdi_rl_worker.learning.state_encoding import HashedStates, make_state_encoding

if TYPE_CHECKING:
    from mosaic_worker import Run, RunConfig
    from spade_bdi_rl_worker.checkpoints.table_file import TableCheckpoint
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding


def play_table(run: Run) -> None:
    """Play the run's checkpoint. Raises `WorkerError` if it is missing or does not match."""
    if run.checkpoint is None:
        raise WorkerError(
            "The run has no checkpoint to play.",
            remedy="Choose one of `mosaic checkpoints list`, or train one first.",
        )
    checkpoint, config = read_table_file(run.checkpoint), run.config
    env_kwargs = select_env_kwargs(checkpoint, config)
    max_steps = config.params["max_episode_steps"]
    limited = time_limited_kwargs(config.env_id, env_kwargs, max_steps)
    run.config = config._replace(env_kwargs=limited)
    play(run, lambda env: TableActor(checkpoint, env, run.config.seed))


def select_env_kwargs(checkpoint: TableCheckpoint, config: RunConfig) -> dict[str, Any]:
    """Return the run's environment arguments; if it has none, those used in training."""
    if not config.env_kwargs and config.env_id == checkpoint.env_id:
        return checkpoint.env_kwargs
    return config.env_kwargs


class TableActor:
    """The greedy policy of a saved table; a random action in states that it does not know."""

    def __init__(self, checkpoint: TableCheckpoint, env: Any, seed: int) -> None:
        """Raises `WorkerError` if the table belongs to another environment."""
        self._encoding: StateEncoding = make_state_encoding(env)
        check_compatible(checkpoint, env, self._encoding)
        self._first_action = int(env.action_space.start)
        self._values = ActionValues(int(env.action_space.n), 0.0)
        self._values.load_rows(checkpoint.tables[0])
        self._visits = checkpoint.tries
        self._rng = random.Random(seed)  # noqa: S311 - not used for security
        if isinstance(self._encoding, HashedStates):
            self._encoding.load_names(checkpoint.names or [])

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - the interface
        state = self._state_index(observation)
        if state is None:
            action = self._rng.randrange(self._values.n_actions)
        else:
            action = pick_first(self._values.greedy[state])
        return action + self._first_action

    def policy(self) -> dict[str, Any] | None:
        """Return the table for display; unvisited states have no action."""
        kind = self._encoding.kind
        return make_policy_table(self._values, self._visits, kind, self._first_action)

    def _state_index(self, observation: Any) -> int | None:
        """None for a state that was never visited."""
        if isinstance(self._encoding, HashedStates):
            return self._encoding.known_index()
        return self._encoding.index(observation)
