"""Actors for tests, selected as `scripted:odd_actors:Name`."""

from __future__ import annotations

from typing import Any


class ConstantActor:
    """Always returns the same action."""

    def __init__(self, env: Any) -> None:
        self.choice: Any = int(env.action_space.n) - 1

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - interface
        return self.choice


class RaisesAfterThreeSteps(ConstantActor):
    """Raises after three steps."""

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        if observation == 3:
            raise LookupError("no action for this observation")
        return super().act(observation, info)


class OutOfBounds(ConstantActor):
    def __init__(self, env: Any) -> None:
        self.choice = int(env.action_space.n)


class RaisesInInit:
    def __init__(self, env: Any) -> None:
        raise ValueError(f"not for {type(env.unwrapped).__name__}")


def returns_no_actor(env: Any) -> object:  # noqa: ARG001 - interface
    return object()


def raises_system_exit(env: Any) -> object:
    raise SystemExit(f"usage: not for {type(env.unwrapped).__name__}")
