"""Keyframes: states of an environment to go back to without playing again from the start.

Only Atari's emulator can be copied as it stands, and only there it pays: making and resetting it
takes 400 ms, going back to a state about ten. All others are played again without being drawn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

EVERY_STEPS = 500
_UNTIL_IT_STICKS = 16
"""So many steps of four frames, in each of which an action is taken with three chances of four."""


class _Keyframe(NamedTuple):
    emulator: Any
    action: Any
    """The last one: sticky actions may repeat it, and the emulator's state does not hold it."""
    random_state: Any
    elapsed: list[tuple[Any, int]]
    """The step count of each time limit around the environment."""


class Keyframes:
    """States of one Atari environment by number of steps; of any other there are none."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self._game = env.unwrapped
        self._emulator: Any = getattr(self._game, "ale", None)
        self._by_steps: dict[int, _Keyframe] = {}

    def keep(self, steps: int, action: Any) -> None:
        """Called after each step; keeps the state now and then."""
        if self._emulator is None or steps % EVERY_STEPS or steps in self._by_steps:
            return
        generator = self._game.np_random.bit_generator
        self._by_steps[steps] = _Keyframe(
            self._emulator.cloneState(include_rng=True),
            action,
            generator.state,
            [(layer, vars(layer)["_elapsed_steps"]) for layer in _time_limits(self._env)],
        )

    def restore(self, before: int) -> int | None:
        """Back to the newest state from before so many steps; how many steps that is after.

        Not to that very number: a restored emulator shows its picture only after another step.
        """
        earlier = [steps for steps in self._by_steps if steps < before]
        if not earlier:
            return None
        steps = max(earlier)
        keyframe = self._by_steps[steps]
        self._emulator.restoreState(keyframe.emulator)
        for _ in range(_UNTIL_IT_STICKS):
            self._game.step(keyframe.action)
        self._emulator.restoreState(keyframe.emulator)
        self._game.np_random.bit_generator.state = keyframe.random_state
        for layer, elapsed in keyframe.elapsed:
            layer._elapsed_steps = elapsed  # noqa: SLF001 - gymnasium has no other way
        return steps


def _time_limits(env: Any) -> list[Any]:
    found = []
    while env is not None:
        if "_elapsed_steps" in vars(env):
            found.append(env)
        env = vars(env).get("env")
    return found
