"""ActionValues: what each action is worth in each state, and which are best.

The best action of every state is kept at hand: it is asked for on every step, and changes rarely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class ActionValues:
    """Rows of values by the index of a state. Rows may be added, never removed.

    `rows` is for reading; `put` writes, and keeps `highest` and `best` in step.
    """

    def __init__(self, actions: int, initial: float) -> None:
        self.actions = actions
        self.initial = initial
        self.rows: list[list[float]] = []
        self.highest: list[float] = []
        """Of each row."""
        self.best: list[int | tuple[int, ...]] = []
        """The action of the highest value, or all that share it."""
        self._all = tuple(range(actions)) if actions > 1 else 0

    def grow(self, states: int) -> None:
        """Have rows for at least so many states."""
        missing = states - len(self.rows)
        if missing > 0:
            self.rows += [[self.initial] * self.actions for _ in range(missing)]
            self.highest += [self.initial] * missing
            self.best += [self._all] * missing

    def put(self, state: int, action: int, value: float) -> None:
        row = self.rows[state]
        old = row[action]
        row[action] = value
        highest = self.highest[state]
        if value > highest:
            self.highest[state] = value
            self.best[state] = action
        elif old == highest or value == highest:
            self._look(state, row)

    def put_rows(self, rows: Iterable[list[float]]) -> None:
        """Replace all values; the rows are copied."""
        self.rows[:] = [list(row) for row in rows]
        self.highest[:] = [max(row) for row in self.rows]
        self.best[:] = [0] * len(self.rows)
        for state, row in enumerate(self.rows):
            self._look(state, row)

    def _look(self, state: int, row: list[float]) -> None:
        highest = self.highest[state] = max(row)
        if row.count(highest) == 1:
            self.best[state] = row.index(highest)
        else:
            self.best[state] = tuple(action for action, value in enumerate(row) if value == highest)


def one_of(best: int | tuple[int, ...]) -> int:
    """The first of the best actions, for who wants no chance."""
    return best if isinstance(best, int) else best[0]
