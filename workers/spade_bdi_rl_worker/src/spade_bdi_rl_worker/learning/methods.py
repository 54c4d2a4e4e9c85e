"""The methods of learning: Q-learning, Double Q-learning and SARSA.

Each has `choose(state)` and `learn(state, action, reward, following, is_over)`, which returns by
how much the table was wrong. They are called on every step, so they are closures: what they need
is at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.learning.action_values import ActionValues

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    Learn = Callable[[int, int, float, int, bool], float]

Q_LEARNING = "q_learning"
DOUBLE_Q_LEARNING = "double_q_learning"
SARSA = "sarsa"


class Method:
    """Tables, and how they are learnt. `values` is what is acted on."""

    choose: Callable[[int], int]
    learn: Learn

    def __init__(self, *, actions: int, initial: float, discount: float, chance: Random) -> None:
        self.rate = 0.1
        self.epsilon = 1.0
        self.discount = discount
        self.tries: list[int] = []
        """How often each action was tried in each state, in one row after the other."""
        self.values = ActionValues(actions, initial)
        self._chance = chance
        self.choose = self._chooser()
        self.learn = self._learner()

    def grow(self, states: int) -> None:
        """Have room for at least so many states."""
        for values in self.tables:
            values.grow(states)
        missing = states * self.values.actions - len(self.tries)
        self.tries += [0] * max(0, missing)

    @property
    def tables(self) -> tuple[ActionValues, ...]:
        """All that are learnt; those of a checkpoint."""
        return (self.values,)

    def put_tables(self, tables: list[list[list[float]]]) -> None:
        """Take over what another one of this method has learnt."""
        for values, rows in zip(self.tables, tables, strict=True):
            values.put_rows(rows)

    def begin_episode(self) -> None:
        """An episode begins, or goes on after something else."""

    def _chooser(self) -> Callable[[int], int]:
        random, best = self._chance.random, self.values.best
        actions = self.values.actions

        def choose(state: int) -> int:
            number, epsilon = random(), self.epsilon
            if number < epsilon:
                return int(number / epsilon * actions)
            action = best[state]
            if isinstance(action, int):
                return action
            return action[int(random() * len(action))]

        return choose

    def _learner(self) -> Learn:
        rows, highest, put = self.values.rows, self.values.highest, self.values.put
        tries, actions, discount = self.tries, self.values.actions, self.discount

        def learn(state: int, action: int, reward: float, following: int, is_over: bool) -> float:
            tries[state * actions + action] += 1
            old = rows[state][action]
            error = (reward if is_over else reward + discount * highest[following]) - old
            if error:
                put(state, action, old + self.rate * error)
            return error

        return learn


class QLearning(Method):
    """Learns what is best from the best that may follow, whatever is done next."""


class Sarsa(Method):
    """Learns what is best given that it goes on exploring: from the action that does follow."""

    _next: int | None = None

    def begin_episode(self) -> None:
        self._next = None

    def _chooser(self) -> Callable[[int], int]:
        choose_now = self._choose_now = super()._chooser()

        def choose(state: int) -> int:
            action = self._next
            return choose_now(state) if action is None else action

        return choose

    def _learner(self) -> Learn:
        rows, put, choose_now = self.values.rows, self.values.put, self._choose_now
        tries, actions, discount = self.tries, self.values.actions, self.discount

        def learn(state: int, action: int, reward: float, following: int, is_over: bool) -> float:
            tries[state * actions + action] += 1
            old = rows[state][action]
            if is_over:
                error = reward - old
                self._next = None
            else:
                chosen = self._next = choose_now(following)
                error = reward + discount * rows[following][chosen] - old
            if error:
                put(state, action, old + self.rate * error)
            return error

        return learn


class DoubleQLearning(Method):
    """Two tables: one says which action is best, the other what it is worth. Overrates less."""

    def __init__(self, **settings: Any) -> None:
        self._first = ActionValues(settings["actions"], settings["initial"])
        self._second = ActionValues(settings["actions"], settings["initial"])
        super().__init__(**settings)

    @property
    def tables(self) -> tuple[ActionValues, ...]:
        return (self.values, self._first, self._second)

    def _learner(self) -> Learn:
        random, put_mean = self._chance.random, self.values.put
        first, second = self._first, self._second
        tries, actions, discount = self.tries, self.values.actions, self.discount

        def learn(state: int, action: int, reward: float, following: int, is_over: bool) -> float:
            tries[state * actions + action] += 1
            taught, judge = (first, second) if random() < 0.5 else (second, first)
            old = taught.rows[state][action]
            error = reward - old
            if not is_over:
                best = taught.best[following]
                if not isinstance(best, int):
                    best = best[int(random() * len(best))]
                error += discount * judge.rows[following][best]
            if error:
                value = old + self.rate * error
                taught.put(state, action, value)
                put_mean(state, action, (value + judge.rows[state][action]) / 2)
            return error

        return learn


METHODS: dict[str, type[Method]] = {
    Q_LEARNING: QLearning,
    DOUBLE_Q_LEARNING: DoubleQLearning,
    SARSA: Sarsa,
}
