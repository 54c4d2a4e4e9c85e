"""ActionValues: the action-value table Q(s, a) with its greedy actions, and how it is displayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.policy_table import MAX_ACTIONS, MAX_STATES
from spade_bdi_rl_worker.learning.state_encoding import DISCRETE

if TYPE_CHECKING:
    from collections.abc import Iterable


class ActionValues:
    """Q(s, a) as one row per state index. Rows are added, never removed.

    `rows` is read-only; `set_value` writes, and updates `max_values` and `greedy`. These are
    cached because every step reads them, and they change rarely.
    """

    def __init__(self, n_actions: int, initial_value: float) -> None:
        self.n_actions = n_actions
        self.initial_value = initial_value
        self.rows: list[list[float]] = []
        self.max_values: list[float] = []
        """The maximum of each row."""
        self.greedy: list[int | tuple[int, ...]] = []
        """The action with the maximum value of each row, or all of them if there are several."""
        self._all_actions = tuple(range(n_actions)) if n_actions > 1 else 0

    def grow(self, n_states: int) -> None:
        """Add rows until there are at least `n_states`."""
        missing = n_states - len(self.rows)
        if missing > 0:
            self.rows += [[self.initial_value] * self.n_actions for _ in range(missing)]
            self.max_values += [self.initial_value] * missing
            self.greedy += [self._all_actions] * missing

    def set_value(self, state: int, action: int, value: float) -> None:
        row = self.rows[state]
        old_value = row[action]
        row[action] = value
        max_value = self.max_values[state]
        if value > max_value:
            self.max_values[state] = value
            self.greedy[state] = action
        elif old_value == max_value or value == max_value:
            self._update_greedy(state, row)

    def load_rows(self, rows: Iterable[list[float]]) -> None:
        """Replace all values; the rows are copied."""
        self.rows[:] = [list(row) for row in rows]
        self.max_values[:] = [max(row) for row in self.rows]
        self.greedy[:] = [0] * len(self.rows)
        for state, row in enumerate(self.rows):
            self._update_greedy(state, row)

    def _update_greedy(self, state: int, row: list[float]) -> None:
        max_value = self.max_values[state] = max(row)
        if row.count(max_value) == 1:
            self.greedy[state] = row.index(max_value)
        else:
            self.greedy[state] = tuple(
                action for action, value in enumerate(row) if value == max_value
            )


def pick_first(greedy: int | tuple[int, ...]) -> int:
    """Return the first greedy action, for deterministic policies."""
    return greedy if isinstance(greedy, int) else greedy[0]


def make_policy_table(
    values: ActionValues, visits: list[int], kind: str, first_action: int
) -> dict[str, Any] | None:
    """Return the fields of a `policy` event: all values, and the greedy action of visited states.

    None if states are not integers, or if there are too many of them. `kind` is that of the state
    encoding.
    """
    n_states, n_actions = len(values.rows), values.n_actions
    if kind != DISCRETE or n_states > MAX_STATES or n_actions > MAX_ACTIONS:
        return None
    is_visited = [
        any(visits[start : start + n_actions])
        for start in range(0, n_states * n_actions, n_actions)
    ]
    return {
        "actions": [
            pick_first(greedy) + first_action if visited else None
            for greedy, visited in zip(values.greedy, is_visited, strict=True)
        ],
        "q_values": values.rows,
    }
