"""The worker's `play` and `evaluate` modes: a saved table in the SDK's play loop."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.play import play
from spade_bdi_rl_worker.checkpoints.identity import check_fits
from spade_bdi_rl_worker.checkpoints.table_file import read_table_file
from spade_bdi_rl_worker.learning.action_values import ActionValues, one_of
from spade_bdi_rl_worker.learning.drawn_table import drawn_table
from spade_bdi_rl_worker.learning.state_encoding import HashedStates, encoding_of
from spade_bdi_rl_worker.learning.step_limit import limited_kwargs

if TYPE_CHECKING:
    from mosaic_worker import Run, RunConfig
    from spade_bdi_rl_worker.checkpoints.table_file import TableCheckpoint
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding


def play_table(run: Run) -> None:
    """Raises `WorkerError` when there is no checkpoint, or it is of another environment."""
    if run.checkpoint is None:
        raise WorkerError(
            "No checkpoint was named to play with.",
            remedy="Choose one of `mosaic checkpoints list`, or train one first.",
        )
    checkpoint, config = read_table_file(run.checkpoint), run.config
    env_kwargs = played_with(checkpoint, config)
    most_steps = config.params["max_episode_steps"]
    limited = limited_kwargs(config.env_id, env_kwargs, most_steps)
    run.config = config._replace(env_kwargs=limited)
    play(run, lambda env: TablePlayer(checkpoint, env, run.config.seed))


def played_with(checkpoint: TableCheckpoint, config: RunConfig) -> dict[str, Any]:
    """The environment's settings: where nobody says otherwise, as it was trained, map and all."""
    if not config.env_kwargs and config.env_id == checkpoint.env_id:
        return checkpoint.env_kwargs
    return config.env_kwargs


class TablePlayer:
    """Chooses the action of the highest value, without learning or exploring."""

    def __init__(self, checkpoint: TableCheckpoint, env: Any, seed: int) -> None:
        """WorkerError when the table is of another environment."""
        self._encoding: StateEncoding = encoding_of(env)
        check_fits(checkpoint, env, self._encoding)
        self._first_action = int(env.action_space.start)
        self._values = ActionValues(int(env.action_space.n), 0.0)
        self._values.put_rows(checkpoint.tables[0])
        self._tries = checkpoint.tries
        self._chance = random.Random(seed)  # noqa: S311 - no secret
        if isinstance(self._encoding, HashedStates):
            self._encoding.know(checkpoint.names or [])

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - of all actors
        state = self._state(observation)
        if state is None:
            action = self._chance.randrange(self._values.actions)
        else:
            action = one_of(self._values.best[state])
        return action + self._first_action

    def policy(self) -> dict[str, Any] | None:
        """The table, for who draws it; where it was never tried, there is nothing to do."""
        kind = self._encoding.kind
        return drawn_table(self._values, self._tries, kind, self._first_action)

    def _state(self, observation: Any) -> int | None:
        """None for a state that was never met."""
        if isinstance(self._encoding, HashedStates):
            return self._encoding.known()
        return self._encoding.index(observation)
