"""One environment of a vector, with what is needed to bring it back to where it is now.

An episode is its start (a seed, or what the reset depended on) and its actions since, so playing
these again in a new environment leads to the same state, wrappers included. A reset that does not
reach the environment (after a lost life, say) is part of the episode.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from mosaic_worker.environments.inspection import find_made_env
from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.start_states import make_capturer, prepare_reset, restore, start_fields


class Position(NamedTuple):
    """Where an environment is in its episode."""

    seed: int | None
    start: dict[str, str] | None
    actions: Any
    """All of the episode so far, in one array."""
    resets: list[int]
    """Before which of them there was a reset that did not reach the environment."""
    observation: Any


class Lane:
    """Steps an environment, and counts the reward and the steps of its episode."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self._made = find_made_env(env)
        self._step = env.step
        self._capture = make_capturer(self._made)
        self._seed: int | None = None
        self._start: Any = None
        self._actions: list[Any] = []
        self._takes_numbers = isinstance(env.action_space, spaces.Discrete)
        self._note_action = self._actions.append if self._takes_numbers else self._note_copy
        self._observation: Any = None
        self._reached = False
        self._return = 0.0
        self._length = 0
        self.last_return = 0.0
        self.last_length = 0
        self._watch_resets()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> Any:
        prepare_reset(self._made)
        start = self._capture() if seed is None else None
        self._reached = False
        observation, _ = self._env.reset(seed=seed, options=options)
        self._observation = observation
        self.last_return, self.last_length = self._return, self._length
        self._return, self._length = 0.0, 0
        if self._reached:
            self._seed, self._start = seed, start
            self._actions.clear()
        else:
            self._note_action(None)
        return observation

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        outcome = self._step(action)
        self._note_action(action)
        self._observation = outcome[0]
        self._return += outcome[1]
        self._length += 1
        if outcome[2] or outcome[3]:
            self.last_return, self.last_length = self._return, self._length
        return outcome  # type: ignore[no-any-return]

    def position(self) -> Position:
        taken = [action for action in self._actions if action is not None]
        resets = [at for at, action in enumerate(self._actions) if action is None]
        return Position(
            self._seed,
            start_fields(self._start),
            np.array(taken),
            [at - earlier for earlier, at in enumerate(resets)],
            np.array(self._observation),
        )

    def restore(self, position: Position) -> tuple[Any, bool]:
        """The observation, and whether it is the one that the position was taken at."""
        try:
            observation, _ = restore(_Stack(self._env, self._made), position.seed, position.start)
        except WorkerError:  # what its start depended on could not be recorded
            return self.reset(None, None), False
        self._seed, self._start = position.seed, position.start
        self._actions.clear()
        self._return, self._length = 0.0, 0
        actions = np.asarray(position.actions)
        each = actions.tolist() if self._takes_numbers else list(actions)
        for at in range(len(each) + 1):
            for _ in range(position.resets.count(at)):
                observation, _ = self._env.reset()
                self._return, self._length = 0.0, 0
                self._note_action(None)
            if at < len(each):
                observation = self.step(each[at])[0]
        self._observation = observation
        if np.array_equal(np.asarray(observation), np.asarray(position.observation)):
            return observation, True
        return self.reset(None, None), False

    def _note_copy(self, action: Any) -> None:
        """What is an array may be written anew by its owner."""
        self._actions.append(None if action is None else np.array(action))

    def _watch_resets(self) -> None:
        """A wrapper may answer a reset itself; one that goes through begins an episode."""
        inner_reset = self._made.reset

        def reset(*args: Any, **kwargs: Any) -> Any:
            self._reached = True
            return inner_reset(*args, **kwargs)

        self._made.reset = reset


class _Stack:
    """The environment with its wrappers, as `restore` resets it."""

    def __init__(self, env: Any, made: Any) -> None:
        self.unwrapped = made.unwrapped
        self.reset = env.reset
