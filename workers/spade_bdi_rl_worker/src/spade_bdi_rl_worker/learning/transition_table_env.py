"""TransitionTableEnv: simulates an environment from its transition table, ten times as fast.

It draws the environment's own random numbers in the same order, so its episodes are exactly those
of the environment, and replay as such.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.learning.random_stream import RandomStream
from spade_bdi_rl_worker.learning.transition_table import sample_index

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spade_bdi_rl_worker.learning.tabular_env import StepResult
    from spade_bdi_rl_worker.learning.transition_table import Transition, TransitionTable
    from spade_bdi_rl_worker.telemetry.episode_writer import EpisodeWriter

_MAX_PENDING_STEPS = 256  # of an episode, before they are passed to the writer
_NO_LIMIT = 1 << 62


class TransitionTableEnv:
    """A `TabularEnv`. The environment itself only provides the random number generator."""

    def __init__(
        self, env: Any, table: TransitionTable, max_steps: int | None, writer: EpisodeWriter
    ) -> None:
        """`env` is already seeded; `max_steps` truncates episodes."""
        self.n_actions = table.n_actions
        self._env = env
        self._table = table
        self._writer = writer
        self._max_steps = max_steps or _NO_LIMIT
        self._stream = RandomStream(env.unwrapped.np_random)
        self._actions: list[int] = []
        self._transitions: list[Transition] = []
        self._state = 0
        self._reachable_states = table.reachable_states()
        self._elapsed_steps = 0
        self.step = self._make_step()

    def reset(self) -> int:
        stream, table = self._stream, self._table
        self.flush()
        random_state = stream.state()
        state = self._state = sample_index(table.initial_thresholds, stream.draw())
        self._elapsed_steps = 0
        self._writer.start_episode(random_state, state, table.initial_infos[state])
        return state

    def flush(self) -> None:
        self._write_pending(truncated=False, is_finished=False)

    def annotate_next_step(self, bdi: Mapping[str, Any]) -> None:
        self._writer.annotate_next_step(bdi)

    def learnable_visits(self, visits: list[int]) -> list[int]:
        n_actions = self.n_actions
        return [
            count
            for state in self._reachable_states
            for count in visits[state * n_actions : (state + 1) * n_actions]
        ]

    def close(self) -> None:
        self.flush()
        self._writer.close()
        self._stream.sync_generator()
        self._env.close()

    def _make_step(self) -> Callable[[int], StepResult]:
        draw, n_actions = self._stream.draw, self.n_actions
        deterministic, distributions = self._table.deterministic, self._table.distributions
        max_steps, write_pending = self._max_steps, self._write_pending
        actions, transitions = self._actions, self._transitions
        add_action, add_transition = actions.append, transitions.append

        def step(action: int) -> StepResult:
            index = self._state * n_actions + action
            uniform = draw()
            transition = deterministic[index]
            if transition is None:
                thresholds, candidates = distributions[index]
                chosen = bisect_right(thresholds, uniform)
                transition = candidates[chosen if chosen < len(candidates) else 0]
            add_action(action)
            add_transition(transition)
            state, reward, terminated, _ = transition
            elapsed = self._elapsed_steps = self._elapsed_steps + 1
            self._state = state
            truncated = elapsed >= max_steps
            if terminated or truncated:
                write_pending(truncated=truncated, is_finished=True)
            elif len(actions) >= _MAX_PENDING_STEPS:
                write_pending(truncated=False, is_finished=False)
            return state, reward, terminated, truncated

        return step

    def _write_pending(self, *, truncated: bool, is_finished: bool) -> None:
        if self._actions:
            self._writer.add_steps(
                self._actions, self._transitions, truncated=truncated, is_finished=is_finished
            )
            self._actions.clear()
            self._transitions.clear()
