"""What a learner's `load_policy` returns, and the actor that the SDK's play loop makes of it."""

from __future__ import annotations

from typing import Any, Protocol


class Policy(Protocol):
    """Acts on one observation, as the learner's wrappers present it.

    `begin_episode()` is called before the first of an episode, where there is one. A policy of
    discrete actions may have `action_values(observations)`, a row of values for each row of
    observations, or `best_actions(observations)`: what it thinks of them, without acting.
    """

    def act(self, observation: Any) -> Any:
        """An action of the environment's own action space; a discrete one counts from 0."""


class PolicyActor:
    """An actor of the play loop."""

    def __init__(
        self, policy: Policy, first_action: int = 0, every_observation: Any = None
    ) -> None:
        """`first_action`: where the environment's discrete actions begin.

        `every_observation` has a row for each state, where there are so few that all can be told.
        """
        self._policy = policy
        self._first_action = first_action
        self._every_observation = every_observation
        self._told: dict[str, Any] | None = None

    def begin_episode(self, observation: Any, info: dict[str, Any]) -> None:  # noqa: ARG002
        begin = getattr(self._policy, "begin_episode", None)
        if begin is not None:
            begin()

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002
        chosen = self._policy.act(observation)
        return chosen + self._first_action if self._first_action else chosen

    def policy(self) -> dict[str, Any] | None:
        """What it would do in every state, for views that draw it; None where it cannot be told."""
        if self._every_observation is not None and self._told is None:
            self._told = self._of_every_state()  # once: it has learnt all that it will
        return self._told

    def _of_every_state(self) -> dict[str, Any] | None:
        values_of = getattr(self._policy, "action_values", None)
        best_of = getattr(self._policy, "best_actions", None)
        if values_of is not None:
            values = values_of(self._every_observation)
            best = values.argmax(axis=1)
            return {"actions": best + self._first_action, "q_values": values}
        if best_of is not None:
            return {"actions": best_of(self._every_observation) + self._first_action}
        return None
