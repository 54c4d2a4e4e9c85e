"""TableWorld: steps an environment by its table of transitions, ten times as fast as itself.

It draws the environment's own random numbers in the environment's own order, so what it records is
what the environment would have done, and replays as such.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.learning.random_stream import RandomStream
from spade_bdi_rl_worker.learning.transition_table import drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spade_bdi_rl_worker.learning.transition_table import Outcome, TransitionTable
    from spade_bdi_rl_worker.learning.world import Stepped
    from spade_bdi_rl_worker.telemetry.episode_track import EpisodeTrack

_STEPS_HELD = 256  # of an episode, before they are handed to the track
_NO_LIMIT = 1 << 62


class TableWorld:
    """One environment. The environment itself keeps nothing but its random numbers."""

    def __init__(
        self, env: Any, table: TransitionTable, limit: int | None, track: EpisodeTrack
    ) -> None:
        """`env` is seeded already; `limit` is how many steps an episode may have."""
        self.actions = table.actions
        self._env = env
        self._table = table
        self._track = track
        self._limit = limit or _NO_LIMIT
        self._stream = RandomStream(env.unwrapped.np_random)
        self._taken: list[int] = []
        self._came: list[Outcome] = []
        self._state = 0
        self._live_states = table.live_states()
        self._elapsed = 0
        self.step = self._stepper()

    def begin(self) -> int:
        stream, table = self._stream, self._table
        self._hand_over(truncated=False, is_over=False)
        captured = stream.state()
        state = self._state = drawn(table.starts, stream.draw())
        self._elapsed = 0
        self._track.begin(captured, state, table.start_infos[state])
        return state

    def tell(self) -> None:
        self._hand_over(truncated=False, is_over=False)

    def note(self, bdi: Mapping[str, Any]) -> None:
        self._track.note(bdi)

    def live_pairs(self, tries: list[int]) -> list[int]:
        actions = self.actions
        return [
            each
            for state in self._live_states
            for each in tries[state * actions : (state + 1) * actions]
        ]

    def close(self) -> None:
        self._hand_over(truncated=False, is_over=False)
        self._track.close()
        self._stream.settle()
        self._env.close()

    def _stepper(self) -> Callable[[int], Stepped]:
        draw, actions = self._stream.draw, self.actions
        sure, cells = self._table.sure, self._table.cells
        limit, hand_over = self._limit, self._hand_over
        taken, came = self._taken, self._came
        add_taken, add_came = taken.append, came.append

        def step(action: int) -> Stepped:
            at = self._state * actions + action
            number = draw()
            outcome = sure[at]
            if outcome is None:
                thresholds, outcomes = cells[at]
                index = bisect_right(thresholds, number)
                outcome = outcomes[index if index < len(outcomes) else 0]
            add_taken(action)
            add_came(outcome)
            state, reward, terminated, _ = outcome
            elapsed = self._elapsed = self._elapsed + 1
            self._state = state
            truncated = elapsed >= limit
            if terminated or truncated:
                hand_over(truncated=truncated, is_over=True)
            elif len(taken) >= _STEPS_HELD:
                hand_over(truncated=False, is_over=False)
            return state, reward, terminated, truncated

        return step

    def _hand_over(self, *, truncated: bool, is_over: bool) -> None:
        if self._taken:
            self._track.add(self._taken, self._came, truncated=truncated, is_over=is_over)
            self._taken.clear()
            self._came.clear()
