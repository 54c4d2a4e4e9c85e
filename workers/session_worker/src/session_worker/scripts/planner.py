"""Environments with a table of their transitions: work out the best action for every state.

FrozenLake, CliffWalking and Taxi tell in `P[state][action]` what may come of an action: a list of
(probability, next state, reward, whether it is over). On solid ground the plan is a shortest path;
on ice it keeps away from the holes.
"""

from __future__ import annotations

from typing import Any

from mosaic_worker.errors import WorkerError

DISCOUNT = 0.999  # sooner is a little better
CLOSE_ENOUGH = 1e-9
MOST_ROUNDS = 2000


class Planner:
    """Value iteration once, and a look into the plan at every step."""

    def __init__(self, env: Any) -> None:
        """WorkerError when the environment has no such table."""
        table = getattr(env.unwrapped, "P", None)
        if not isinstance(table, dict):
            raise WorkerError(
                f"{type(env.unwrapped).__name__} has no table of its transitions.",
                remedy="Use the planner in FrozenLake, CliffWalking or Taxi.",
            )
        self._table = table
        self._worths = _worths_of_actions(table)
        self._plan = {
            state: max(worths, key=worths.__getitem__) for state, worths in self._worths.items()
        }

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - of all actors
        return self._plan[int(observation)]

    def policy(self) -> dict[str, Any]:
        """The plan, for who draws it; in a state that ends the episode there is nothing to do."""
        states = sorted(self._table)
        return {
            "actions": [
                None if _is_end(state, self._table[state]) else self._plan[state]
                for state in states
            ],
            "q_values": [list(self._worths[state].values()) for state in states],
        }


def _worths_of_actions(table: dict[int, dict[int, list[Any]]]) -> dict[int, dict[int, float]]:
    """What each action is worth in each state."""
    values = dict.fromkeys(table, 0.0)
    for _ in range(MOST_ROUNDS):
        change = 0.0
        for state, actions in table.items():
            best = max(_worth(outcomes, values) for outcomes in actions.values())
            change = max(change, abs(best - values[state]))
            values[state] = best
        if change < CLOSE_ENOUGH:
            break
    return {
        state: {action: _worth(outcomes, values) for action, outcomes in sorted(actions.items())}
        for state, actions in table.items()
    }


def _is_end(state: int, actions: dict[int, list[Any]]) -> bool:
    """Whether the episode is over there, whatever is done."""
    return all(
        is_over and following == state
        for outcomes in actions.values()
        for _, following, _, is_over in outcomes
    )


def _worth(outcomes: list[Any], values: dict[int, float]) -> float:
    return sum(
        float(chance * (reward + (0.0 if is_over else DISCOUNT * values[state])))
        for chance, state, reward, is_over in outcomes
    )
