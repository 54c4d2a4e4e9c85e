"""Epsilon-greedy exploration with a linear schedule.

Random numbers come from numpy's global generator, which a training session seeds and saves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from cleanrl_worker.session.training_session import TrainingSession


def initial_epsilon(session: TrainingSession, *, start_e: float, end_e: float) -> float:
    """Return the epsilon of the first step: `end_e` if the policy is trained already.

    A learner saves it as `first_epsilon`, because a resumed training may itself have had a warm
    start.
    """
    if session.resumed:
        return float(session.resumed.training["first_epsilon"])
    return end_e if session.warm_start else start_e


def linear_schedule(start_e: float, end_e: float, duration: float, t: int) -> float:
    """Return the epsilon of step `t`: from `start_e` to `end_e` within `duration` steps."""
    if t >= duration:
        return end_e
    return start_e + (end_e - start_e) * t / duration


class EpsilonGreedy:
    """Chooses one of `num_actions` for each row of observations."""

    def __init__(self, q_network: Callable[[Any], Any], num_actions: int) -> None:
        """`q_network` maps float32 rows to a row of Q values each."""
        self._q_network = q_network
        self._num_actions = num_actions

    def __call__(self, observations: Any, epsilon: float) -> Any:
        """Skip the network if every action is random."""
        draws = np.random.random((2, len(observations)))
        is_random = draws[0] < epsilon
        random_actions = (draws[1] * self._num_actions).astype(np.int64)
        if is_random.all():
            return random_actions
        q_values = self._q_network(np.asarray(observations, dtype=np.float32))
        return np.where(is_random, random_actions, q_values.argmax(axis=1))


class EpsilonGreedyPolicy:
    """Plays one environment; with epsilon 0 always the greedy action."""

    def __init__(self, q_network: Callable[[Any], Any], num_actions: int, epsilon: float) -> None:
        self.action_values = q_network
        """Maps float32 rows of observations to rows of Q values."""
        self._choose = EpsilonGreedy(q_network, num_actions)
        self._epsilon = epsilon

    def act(self, observation: Any) -> Any:
        return int(self._choose(np.asarray(observation)[None], self._epsilon)[0])
