"""Tabular methods: Q-learning, Double Q-learning and SARSA.

Each has `select_action(state)` and `update(state, action, reward, next_state, terminated)`, which
returns the TD error. Both are called on every step, so they are closures over local names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.learning.action_values import ActionValues

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    Update = Callable[[int, int, float, int, bool], float]

Q_LEARNING = "q_learning"
DOUBLE_Q_LEARNING = "double_q_learning"
SARSA = "sarsa"


class Method:
    """Action-value tables and their update rule. The behaviour policy uses `values`."""

    select_action: Callable[[int], int]
    update: Update

    def __init__(
        self, *, n_actions: int, initial_value: float, discount: float, rng: Random
    ) -> None:
        self.learning_rate = 0.1
        self.epsilon = 1.0
        self.discount = discount
        self.visits: list[int] = []
        """Visit counts of all state-action pairs, row by row."""
        self.values = ActionValues(n_actions, initial_value)
        self._rng = rng
        self.select_action = self._make_select_action()
        self.update = self._make_update()

    def grow(self, n_states: int) -> None:
        """Add rows until there are at least `n_states`."""
        for values in self.tables:
            values.grow(n_states)
        missing = n_states * self.values.n_actions - len(self.visits)
        self.visits += [0] * max(0, missing)

    @property
    def tables(self) -> tuple[ActionValues, ...]:
        """All tables that are learned and saved; `values` is the first."""
        return (self.values,)

    def load_tables(self, tables: list[list[list[float]]]) -> None:
        """Replace the values with those of another learner of this method."""
        for values, rows in zip(self.tables, tables, strict=True):
            values.load_rows(rows)

    def start_episode(self) -> None:
        """Called before the first step of an episode."""

    def _make_select_action(self) -> Callable[[int], int]:
        random, greedy = self._rng.random, self.values.greedy
        n_actions = self.values.n_actions

        def select_action(state: int) -> int:
            number, epsilon = random(), self.epsilon
            if number < epsilon:
                return int(number / epsilon * n_actions)
            action = greedy[state]
            if isinstance(action, int):
                return action
            return action[int(random() * len(action))]

        return select_action

    def _make_update(self) -> Update:
        rows, max_values, set_value = (
            self.values.rows,
            self.values.max_values,
            self.values.set_value,
        )
        visits, n_actions, discount = self.visits, self.values.n_actions, self.discount

        def update(
            state: int, action: int, reward: float, next_state: int, terminated: bool
        ) -> float:
            visits[state * n_actions + action] += 1
            value = rows[state][action]
            target = reward if terminated else reward + discount * max_values[next_state]
            td_error = target - value
            if td_error:
                set_value(state, action, value + self.learning_rate * td_error)
            return td_error

        return update


class QLearning(Method):
    """Off-policy TD control: bootstraps from the maximum value of the next state."""


class Sarsa(Method):
    """On-policy TD control: bootstraps from the action that is taken next."""

    _next_action: int | None = None

    def start_episode(self) -> None:
        self._next_action = None

    def _make_select_action(self) -> Callable[[int], int]:
        select_new_action = self._select_new_action = super()._make_select_action()

        def select_action(state: int) -> int:
            action = self._next_action
            return select_new_action(state) if action is None else action

        return select_action

    def _make_update(self) -> Update:
        rows, set_value = self.values.rows, self.values.set_value
        select_new_action = self._select_new_action
        visits, n_actions, discount = self.visits, self.values.n_actions, self.discount

        def update(
            state: int, action: int, reward: float, next_state: int, terminated: bool
        ) -> float:
            visits[state * n_actions + action] += 1
            value = rows[state][action]
            if terminated:
                td_error = reward - value
                self._next_action = None
            else:
                next_action = self._next_action = select_new_action(next_state)
                td_error = reward + discount * rows[next_state][next_action] - value
            if td_error:
                set_value(state, action, value + self.learning_rate * td_error)
            return td_error

        return update


class DoubleQLearning(Method):
    """Two tables, one to select the greedy action and one to evaluate it: no maximization bias.

    `values` is the mean of both.
    """

    def __init__(self, **settings: Any) -> None:
        self._q1 = ActionValues(settings["n_actions"], settings["initial_value"])
        self._q2 = ActionValues(settings["n_actions"], settings["initial_value"])
        super().__init__(**settings)

    @property
    def tables(self) -> tuple[ActionValues, ...]:
        return (self.values, self._q1, self._q2)

    def _make_update(self) -> Update:
        random, set_mean = self._rng.random, self.values.set_value
        q1, q2 = self._q1, self._q2
        visits, n_actions, discount = self.visits, self.values.n_actions, self.discount

        def update(
            state: int, action: int, reward: float, next_state: int, terminated: bool
        ) -> float:
            visits[state * n_actions + action] += 1
            updated, evaluator = (q1, q2) if random() < 0.5 else (q2, q1)
            value = updated.rows[state][action]
            td_error = reward - value
            if not terminated:
                next_action = updated.greedy[next_state]
                if not isinstance(next_action, int):
                    next_action = next_action[int(random() * len(next_action))]
                td_error += discount * evaluator.rows[next_state][next_action]
            if td_error:
                value += self.learning_rate * td_error
                updated.set_value(state, action, value)
                set_mean(state, action, (value + evaluator.rows[state][action]) / 2)
            return td_error

        return update


METHODS: dict[str, type[Method]] = {
    Q_LEARNING: QLearning,
    DOUBLE_Q_LEARNING: DoubleQLearning,
    SARSA: Sarsa,
}
