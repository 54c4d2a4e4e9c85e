"""What a learner's `load_policy` returns, and the actor that the SDK's play loop makes of it."""

from __future__ import annotations

from typing import Any, Protocol


class Policy(Protocol):
    """Acts on one observation, as the learner's wrappers present it.

    `begin_episode()` is called before the first of an episode, where there is one.
    """

    def act(self, observation: Any) -> Any:
        """An action of the environment's own action space."""


class PolicyActor:
    """An actor of the play loop."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def begin_episode(self, observation: Any, info: dict[str, Any]) -> None:  # noqa: ARG002
        begin = getattr(self._policy, "begin_episode", None)
        if begin is not None:
            begin()

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002
        return self._policy.act(observation)
