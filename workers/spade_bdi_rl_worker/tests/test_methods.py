"""The three methods, on transitions whose correct value is known."""

from __future__ import annotations

import random

import pytest

from spade_bdi_rl_worker.learning.action_values import ActionValues
from spade_bdi_rl_worker.learning.methods import METHODS, Method
from spade_bdi_rl_worker.learning.schedules import EpsilonSchedule, learning_rate


def make_method(name: str, *, initial: float = 0.0, rate: float = 0.5, states: int = 3) -> Method:
    method = METHODS[name](n_actions=2, initial_value=initial, discount=0.9, rng=random.Random(1))
    method.grow(states)
    method.learning_rate, method.epsilon = rate, 0.0
    return method


def test_q_learning_bootstraps_from_the_maximum_value() -> None:
    """The value moves half way to the reward plus the discounted maximum of the next state."""
    learner = make_method("q_learning")
    learner.values.set_value(1, 1, 10.0)
    learner.values.set_value(1, 0, -5.0)

    assert learner.update(0, 0, 1.0, 1, False) == 10.0
    assert learner.values.rows[0] == [5.0, 0.0]
    assert learner.visits == [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("name", list(METHODS))
def test_a_terminal_state_has_no_value(name: str) -> None:
    """After a termination the value of the next state is ignored."""
    learner = make_method(name, rate=1.0)
    for table in learner.tables:
        table.set_value(2, 0, 100.0)

    for _ in range(40):
        learner.update(1, 1, 3.0, 2, True)
    assert learner.values.rows[1] == [0.0, 3.0]


def test_sarsa_bootstraps_from_the_action_it_takes_next() -> None:
    """With epsilon 1 the target uses the sampled action, not the maximum."""
    learner = make_method("sarsa", rate=1.0)
    learner.epsilon = 1.0
    learner.values.load_rows([[0.0, 0.0], [10.0, -10.0], [0.0, 0.0]])

    chosen = []
    for _ in range(50):
        learner.start_episode()
        learner.update(0, 0, 0.0, 1, False)
        action = learner.select_action(1)
        assert learner.values.rows[0][0] == 0.9 * learner.values.rows[1][action]
        chosen.append(action)
    assert set(chosen) == {0, 1}


def test_double_q_learning_has_less_maximization_bias() -> None:
    """Some of many actions with mean reward 0 have high estimates; Q-learning uses the highest."""

    def value_of_start(name: str) -> float:
        rng = random.Random(5)
        learner = METHODS[name](n_actions=10, initial_value=0.0, discount=1.0, rng=random.Random(2))
        learner.grow(2)
        learner.learning_rate, learner.epsilon = 0.2, 1.0
        for _ in range(3_000):
            learner.update(0, 0, 0.0, 1, False)
            learner.update(1, learner.select_action(1), rng.gauss(0.0, 1.0), 1, True)
        return learner.values.rows[0][0]

    assert value_of_start("q_learning") > 0.3
    assert abs(value_of_start("double_q_learning")) < value_of_start("q_learning") / 2


def test_ties_between_greedy_actions_are_broken_at_random() -> None:
    """With a fixed choice the agent would loop before it has learned anything."""
    learner = make_method("q_learning")
    assert {learner.select_action(0) for _ in range(30)} == {0, 1}
    learner.values.set_value(0, 1, 0.1)
    assert {learner.select_action(0) for _ in range(30)} == {1}


def test_cached_greedy_actions_match_the_values() -> None:
    """They match after any sequence of updates."""
    values, rng = ActionValues(3, 0.5), random.Random(3)
    values.grow(4)
    for _ in range(2_000):
        values.set_value(rng.randrange(4), rng.randrange(3), rng.choice((-1.0, 0.0, 0.5, 1.0)))
        for state, row in enumerate(values.rows):
            greedy = values.greedy[state]
            actions = [greedy] if isinstance(greedy, int) else list(greedy)
            assert actions == [action for action, value in enumerate(row) if value == max(row)]
            assert values.max_values[state] == max(row)


def test_random_actions_are_uniform() -> None:
    """Actions are uniform with a small epsilon."""
    learner = make_method("q_learning")
    learner.values.set_value(0, 1, 1.0)
    learner.epsilon = 0.2
    fraction = [learner.select_action(0) for _ in range(20_000)].count(0) / 20_000
    assert fraction == pytest.approx(0.1, abs=0.01)


def test_schedules_from_start_to_end() -> None:
    """Linear, exponential or constant; then the final value."""
    linear = EpsilonSchedule(1.0, 0.1, 0.5)
    assert [linear.epsilon(done) for done in (0.0, 0.25, 0.5, 1.0)] == [1.0, 0.55, 0.1, 0.1]
    exponential = EpsilonSchedule(1.0, 0.01, 0.5, "exponential")
    assert exponential.epsilon(0.25) == pytest.approx(0.1)
    assert exponential.epsilon(0.75) == 0.01
    assert EpsilonSchedule(0.3, 0.1, 0.5, "constant").epsilon(1.0) == 0.3
    assert EpsilonSchedule(1.0, 0.1, 0.0).epsilon(0.0) == 0.1
    assert learning_rate(0.5, 0.1, 0.5) == pytest.approx(0.3)


def test_plans_override_the_schedule() -> None:
    """A minimum, the final value, and back to the schedule."""
    exploration = EpsilonSchedule(1.0, 0.1, 1.0)
    exploration.consolidate()
    assert exploration.epsilon(0.0) == 0.1
    exploration.explore(0.6)
    assert [exploration.epsilon(done) for done in (0.0, 0.9)] == [1.0, 0.6]
    exploration.explore(0.0)
    assert exploration.epsilon(0.9) == pytest.approx(0.19)
    constant = EpsilonSchedule(0.3, 0.1, 0.5, "constant")
    constant.consolidate()
    assert constant.epsilon(1.0) == 0.3
