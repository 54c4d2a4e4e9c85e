"""One environment of a vector, which can be restored to its current position.

An episode is its start (a seed, or the state that the reset depended on) and its actions so far.
Replaying these in a new environment leads to the same state, including wrappers. A reset that does
not reach the environment (after a lost life, for example) is part of the episode.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from mosaic_worker.environments.inspection import find_made_env
from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.start_states import make_capturer, prepare_reset, restore, start_fields


class EnvPosition(NamedTuple):
    """The position of an environment in its episode."""

    seed: int | None
    start: dict[str, str] | None
    actions: Any
    """All actions of the episode so far, in one array."""
    resets: list[int]
    """Indices of the actions before which a reset did not reach the environment."""
    observation: Any


class EnvSlot:
    """Steps an environment and tracks the return and length of its episode."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self._made = find_made_env(env)
        self._step = env.step
        self._capture = make_capturer(self._made)
        self._seed: int | None = None
        self._start: Any = None
        self._actions: list[Any] = []
        self._is_discrete = isinstance(env.action_space, spaces.Discrete)
        self._record_action = self._actions.append if self._is_discrete else self._record_copy
        self._observation: Any = None
        self._has_reached_env = False
        self._return = 0.0
        self._length = 0
        self.last_return = 0.0
        self.last_length = 0
        self._intercept_resets()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> Any:
        prepare_reset(self._made)
        start = self._capture() if seed is None else None
        self._has_reached_env = False
        observation, _ = self._env.reset(seed=seed, options=options)
        self._observation = observation
        self.last_return, self.last_length = self._return, self._length
        self._return, self._length = 0.0, 0
        if self._has_reached_env:
            self._seed, self._start = seed, start
            self._actions.clear()
        else:
            self._record_action(None)
        return observation

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        result = self._step(action)
        self._record_action(action)
        self._observation = result[0]
        self._return += result[1]
        self._length += 1
        if result[2] or result[3]:
            self.last_return, self.last_length = self._return, self._length
        return result  # type: ignore[no-any-return]

    def position(self) -> EnvPosition:
        actions = [action for action in self._actions if action is not None]
        resets = [index for index, action in enumerate(self._actions) if action is None]
        return EnvPosition(
            self._seed,
            start_fields(self._start),
            np.array(actions),
            [index - earlier for earlier, index in enumerate(resets)],
            np.array(self._observation),
        )

    def restore(self, position: EnvPosition) -> tuple[Any, bool]:
        """Return the observation, and whether it equals the one of the position."""
        try:
            env = _WrappedEnv(self._env, self._made)
            observation, _ = restore(env, position.seed, position.start)
        except WorkerError:  # the start of the episode could not be recorded
            return self.reset(None, None), False
        self._seed, self._start = position.seed, position.start
        self._actions.clear()
        self._return, self._length = 0.0, 0
        actions = np.asarray(position.actions)
        replayed = actions.tolist() if self._is_discrete else list(actions)
        for index in range(len(replayed) + 1):
            for _ in range(position.resets.count(index)):
                observation, _ = self._env.reset()
                self._return, self._length = 0.0, 0
                self._record_action(None)
            if index < len(replayed):
                observation = self.step(replayed[index])[0]
        self._observation = observation
        if np.array_equal(np.asarray(observation), np.asarray(position.observation)):
            return observation, True
        return self.reset(None, None), False

    def _record_copy(self, action: Any) -> None:
        """Copy an array action, because its owner may overwrite it."""
        self._actions.append(None if action is None else np.array(action))

    def _intercept_resets(self) -> None:
        """Detect whether a reset reaches the environment; a wrapper may handle it alone."""
        inner_reset = self._made.reset

        def reset(*args: Any, **kwargs: Any) -> Any:
            self._has_reached_env = True
            return inner_reset(*args, **kwargs)

        self._made.reset = reset


class _WrappedEnv:
    """The environment with its wrappers, in the form that `restore` resets."""

    def __init__(self, env: Any, made: Any) -> None:
        self.unwrapped = made.unwrapped
        self.reset = env.reset
