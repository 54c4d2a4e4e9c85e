"""Planner: value iteration for environments with a transition table.

In FrozenLake, CliffWalking and Taxi, `P[state][action]` lists the outcomes of an action as
(probability, next state, reward, terminated). In a deterministic environment the policy is a
shortest path; in a slippery one it avoids the holes.
"""

from __future__ import annotations

from typing import Any

from mosaic_worker.errors import WorkerError

DISCOUNT = 0.999  # prefers shorter paths
TOLERANCE = 1e-9
MAX_ITERATIONS = 2000


class Planner:
    """Runs value iteration once, and then looks up the best action of each state."""

    def __init__(self, env: Any) -> None:
        """Raises WorkerError if the environment has no transition table."""
        table = getattr(env.unwrapped, "P", None)
        if not isinstance(table, dict):
            raise WorkerError(
                f"{type(env.unwrapped).__name__} has no transition table `P`.",
                remedy="Use the planner in FrozenLake, CliffWalking or Taxi.",
            )
        self._table = table
        self._q_values = _iterate_values(table)
        self._actions = {
            state: max(q_values, key=q_values.__getitem__)
            for state, q_values in self._q_values.items()
        }

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - interface
        return self._actions[int(observation)]

    def policy(self) -> dict[str, Any]:
        """Return the policy, for views; a terminal state has no action."""
        states = sorted(self._table)
        return {
            "actions": [
                None if _is_terminal(state, self._table[state]) else self._actions[state]
                for state in states
            ],
            "q_values": [list(self._q_values[state].values()) for state in states],
        }


def _iterate_values(table: dict[int, dict[int, list[Any]]]) -> dict[int, dict[int, float]]:
    """Return the Q values of all actions in all states."""
    values = dict.fromkeys(table, 0.0)
    for _ in range(MAX_ITERATIONS):
        change = 0.0
        for state, actions in table.items():
            best = max(_q_value(outcomes, values) for outcomes in actions.values())
            change = max(change, abs(best - values[state]))
            values[state] = best
        if change < TOLERANCE:
            break
    return {
        state: {action: _q_value(outcomes, values) for action, outcomes in sorted(actions.items())}
        for state, actions in table.items()
    }


def _is_terminal(state: int, actions: dict[int, list[Any]]) -> bool:
    """Whether every action ends the episode in the same state."""
    return all(
        terminated and next_state == state
        for outcomes in actions.values()
        for _, next_state, _, terminated in outcomes
    )


def _q_value(outcomes: list[Any], values: dict[int, float]) -> float:
    return sum(
        float(probability * (reward + (0.0 if terminated else DISCOUNT * values[state])))
        for probability, state, reward, terminated in outcomes
    )
