"""Actors for tests, selected as `scripted:odd_actors:Name`."""

from __future__ import annotations

from typing import Any


class Steady:
    """Always the same action."""

    def __init__(self, env: Any) -> None:
        self.choice: Any = int(env.action_space.n) - 1

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - of all actors
        return self.choice


class GivesUp(Steady):
    """Raises after three steps."""

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        if observation == 3:
            raise LookupError("no idea")
        return super().act(observation, info)


class OutOfBounds(Steady):
    def __init__(self, env: Any) -> None:
        self.choice = int(env.action_space.n)


class CannotBeMade:
    def __init__(self, env: Any) -> None:
        raise ValueError(f"not for {type(env.unwrapped).__name__}")


def no_actor(env: Any) -> object:  # noqa: ARG001 - as every factory
    return object()


def ends_the_program(env: Any) -> object:
    raise SystemExit(f"usage: not for {type(env.unwrapped).__name__}")
