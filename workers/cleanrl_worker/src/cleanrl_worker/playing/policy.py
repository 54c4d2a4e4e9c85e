"""What a learner's `load_policy` returns, and the actor that the SDK's play loop makes of it."""

from __future__ import annotations

from typing import Any, Protocol


class Policy(Protocol):
    """Acts on one observation, as the learner's wrappers present it.

    `begin_episode()` is called before the first of an episode, where there is one.
    """

    def act(self, observation: Any) -> Any:
        """An action of the environment's own action space; a discrete one counts from 0."""


class PolicyActor:
    """An actor of the play loop."""

    def __init__(self, policy: Policy, first_action: int = 0) -> None:
        """`first_action`: where the environment's discrete actions begin."""
        self._policy = policy
        self._first_action = first_action

    def begin_episode(self, observation: Any, info: dict[str, Any]) -> None:  # noqa: ARG002
        begin = getattr(self._policy, "begin_episode", None)
        if begin is not None:
            begin()

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002
        chosen = self._policy.act(observation)
        return chosen + self._first_action if self._first_action else chosen
