"""Epsilon-greedy: mostly what looks best, sometimes anything, ever less often.

Random numbers are numpy's global ones, which a session seeds and saves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from cleanrl_worker.session.session import Session


def first_epsilon(session: Session, *, start: float, end: float) -> float:
    """The share of random actions at the beginning: of a policy that has learnt already, `end`.

    A learner saves it as `first_epsilon`: a resumed training may have had a warm start itself.
    """
    if session.resumed:
        return float(session.resumed.training["first_epsilon"])
    return end if session.warm else start


def epsilon_at(step: int, *, start: float, end: float, duration: float) -> float:
    """Straight down from `start` to `end` in `duration` steps."""
    if step >= duration:
        return end
    return start + (end - start) * step / duration


class EpsilonGreedy:
    """Chooses one of `actions` for each row of observations."""

    def __init__(self, values_of: Callable[[Any], Any], actions: int) -> None:
        """`values_of` takes float32 rows and returns a row of action values for each."""
        self._values_of = values_of
        self._actions = actions

    def __call__(self, observations: Any, epsilon: float) -> Any:
        """The network is not asked when every row gets a random action."""
        draws = np.random.random((2, len(observations)))
        is_random = draws[0] < epsilon
        anything = (draws[1] * self._actions).astype(np.int64)
        if is_random.all():
            return anything
        best = self._values_of(np.asarray(observations, dtype=np.float32)).argmax(axis=1)
        return np.where(is_random, anything, best)


class EpsilonGreedyPolicy:
    """Plays what was learnt: an epsilon of 0 is always the best action."""

    def __init__(self, values_of: Callable[[Any], Any], actions: int, epsilon: float) -> None:
        self.action_values = values_of
        """A row of values for each row of observations, which are float32."""
        self._choose = EpsilonGreedy(values_of, actions)
        self._epsilon = epsilon

    def act(self, observation: Any) -> Any:
        return int(self._choose(np.asarray(observation)[None], self._epsilon)[0])
