"""The three methods, on steps whose right value is known."""

from __future__ import annotations

import random

import pytest

from spade_bdi_rl_worker.learning.action_values import ActionValues
from spade_bdi_rl_worker.learning.exploration import Exploration, learning_rate
from spade_bdi_rl_worker.learning.methods import METHODS, Method


def method(name: str, *, initial: float = 0.0, rate: float = 0.5, states: int = 3) -> Method:
    made = METHODS[name](actions=2, initial=initial, discount=0.9, chance=random.Random(1))
    made.grow(states)
    made.rate, made.epsilon = rate, 0.0
    return made


def test_q_learning_looks_at_the_best_that_may_follow() -> None:
    """Half way to the reward and the discounted best value of the next state."""
    learner = method("q_learning")
    learner.values.put(1, 1, 10.0)
    learner.values.put(1, 0, -5.0)

    assert learner.learn(0, 0, 1.0, 1, False) == 10.0
    assert learner.values.rows[0] == [5.0, 0.0]
    assert learner.tries == [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("name", list(METHODS))
def test_nothing_follows_an_end(name: str) -> None:
    """After a termination the next state is worth nothing, whatever the table says of it."""
    learner = method(name, rate=1.0)
    for table in learner.tables:
        table.put(2, 0, 100.0)

    for _ in range(40):
        learner.learn(1, 1, 3.0, 2, True)
    assert learner.values.rows[1] == [0.0, 3.0]


def test_sarsa_learns_from_what_it_does_next_and_then_does_it() -> None:
    """Exploring all the time, it sees the mean of what follows and not the best."""
    learner = method("sarsa", rate=1.0)
    learner.epsilon = 1.0
    learner.values.put_rows([[0.0, 0.0], [10.0, -10.0], [0.0, 0.0]])

    chosen = []
    for _ in range(50):
        learner.begin_episode()
        learner.learn(0, 0, 0.0, 1, False)
        action = learner.choose(1)
        assert learner.values.rows[0][0] == 0.9 * learner.values.rows[1][action]
        chosen.append(action)
    assert set(chosen) == {0, 1}


def test_double_q_learning_is_not_fooled_by_chance() -> None:
    """Of many actions that are worth nothing some look good by luck: Q-learning believes them."""

    def value_of_start(name: str) -> float:
        chance = random.Random(5)
        learner = METHODS[name](actions=10, initial=0.0, discount=1.0, chance=random.Random(2))
        learner.grow(2)
        learner.rate, learner.epsilon = 0.2, 1.0
        for _ in range(3_000):
            learner.learn(0, 0, 0.0, 1, False)
            learner.learn(1, learner.choose(1), chance.gauss(0.0, 1.0), 1, True)
        return learner.values.rows[0][0]

    assert value_of_start("q_learning") > 0.3
    assert abs(value_of_start("double_q_learning")) < value_of_start("q_learning") / 2


def test_one_of_several_best_actions_is_chosen_by_chance() -> None:
    """A fixed one would walk in a circle as long as nothing was learnt."""
    learner = method("q_learning")
    assert {learner.choose(0) for _ in range(30)} == {0, 1}
    learner.values.put(0, 1, 0.1)
    assert {learner.choose(0) for _ in range(30)} == {1}


def test_the_best_actions_are_those_of_the_rows_whatever_is_put() -> None:
    """They are kept beside the values, and must not drift away from them."""
    values, chance = ActionValues(3, 0.5), random.Random(3)
    values.grow(4)
    for _ in range(2_000):
        values.put(chance.randrange(4), chance.randrange(3), chance.choice((-1.0, 0.0, 0.5, 1.0)))
        for state, row in enumerate(values.rows):
            best = values.best[state]
            listed = [best] if isinstance(best, int) else list(best)
            assert listed == [action for action, value in enumerate(row) if value == max(row)]
            assert values.highest[state] == max(row)


def test_random_actions_are_all_actions() -> None:
    """Each as often as the others, also when few actions are random."""
    learner = method("q_learning")
    learner.values.put(0, 1, 1.0)
    learner.epsilon = 0.2
    share = [learner.choose(0) for _ in range(20_000)].count(0) / 20_000
    assert share == pytest.approx(0.1, abs=0.01)


def test_schedules_go_from_start_to_end() -> None:
    """Straight, by a constant factor, or not at all; and stay there."""
    linear = Exploration(1.0, 0.1, 0.5)
    assert [linear.epsilon(done) for done in (0.0, 0.25, 0.5, 1.0)] == [1.0, 0.55, 0.1, 0.1]
    exponential = Exploration(1.0, 0.01, 0.5, "exponential")
    assert exponential.epsilon(0.25) == pytest.approx(0.1)
    assert exponential.epsilon(0.75) == 0.01
    assert Exploration(0.3, 0.1, 0.5, "constant").epsilon(1.0) == 0.3
    assert Exploration(1.0, 0.1, 0.0).epsilon(0.0) == 0.1
    assert learning_rate(0.5, 0.1, 0.5) == pytest.approx(0.3)


def test_plans_decide_otherwise() -> None:
    """At least so much, as little as there is, and back to the schedule."""
    exploration = Exploration(1.0, 0.1, 1.0)
    exploration.consolidate()
    assert exploration.epsilon(0.0) == 0.1
    exploration.explore(0.6)
    assert [exploration.epsilon(done) for done in (0.0, 0.9)] == [1.0, 0.6]
    exploration.explore(0.0)
    assert exploration.epsilon(0.9) == pytest.approx(0.19)
    constant = Exploration(0.3, 0.1, 0.5, "constant")
    constant.consolidate()
    assert constant.epsilon(1.0) == 0.3
