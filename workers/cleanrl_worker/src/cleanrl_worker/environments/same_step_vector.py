"""Environments that are stepped together, one after the other, in this process.

The interface is that of `gymnasium.vector.SyncVectorEnv` in same-step autoreset mode: when an
episode ends, `step` returns the first observation of the next one, and the last observation of the
old one is `infos["final_obs"]`. It does less around each step than gymnasium's, and it can be
brought back to where a checkpoint left it: see `positions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, create_empty_array

from cleanrl_worker.environments.lane import Lane
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cleanrl_worker.environments.lane import Position

_FLAT_TYPES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


class SameStepVector(VectorEnv):  # type: ignore[type-arg]
    """`observations` is what the last reset or step returned, and is written anew by the next."""

    single_observation_space: Any
    single_action_space: Any

    def __init__(self, envs: Sequence[Any], *, reports_every_end: bool = True) -> None:
        """`reports_every_end` False: an end without `info["episode"]` (a lost life) is not told."""
        self.envs = list(envs)
        self.num_envs = len(self.envs)
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        if not isinstance(self.single_observation_space, _FLAT_TYPES):
            raise WorkerError(
                "The environment's observations are made of several parts:"
                f" {self.single_observation_space}.",
                remedy="Choose an environment with one array of numbers as observation.",
            )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.spec = self.envs[0].spec
        self.observations: Any = create_empty_array(
            self.single_observation_space, n=self.num_envs, fn=np.zeros
        )
        self._lanes = [Lane(env) for env in self.envs]
        self._reports_every_end = reports_every_end
        self._takes_numbers = isinstance(self.single_action_space, spaces.Discrete)
        self._first_action = int(getattr(self.single_action_space, "start", 0))
        self._rewards = np.zeros(self.num_envs, dtype=np.float64)
        self._terminated = np.zeros(self.num_envs, dtype=np.bool_)
        self._truncated = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Each environment gets a seed of its own, counted up from `seed`."""
        for index, lane in enumerate(self._lanes):
            own = None if seed is None else seed + index
            self.observations[index] = lane.reset(own, options)
        return self.observations.copy(), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """`infos` is empty unless an episode has ended. Discrete actions count from 0."""
        observations = self.observations
        rewards, terminated, truncated = self._rewards, self._terminated, self._truncated
        ended: list[tuple[int, Any, dict[str, Any]]] | None = None
        # A list of Python's own numbers is the quickest to go through.
        each = (actions + self._first_action).tolist() if self._takes_numbers else actions
        for index, (lane, action) in enumerate(zip(self._lanes, each, strict=True)):
            observation, reward, is_over, is_cut, info = lane.step(action)
            rewards[index] = reward
            terminated[index] = is_over
            truncated[index] = is_cut
            if is_over or is_cut:
                if ended is None:
                    ended = []
                ended.append((index, np.array(observation), info))
                observation = lane.reset(None, None)
            observations[index] = observation
        infos = {} if ended is None else self._infos_of_ends(ended)
        return (
            observations.copy(),
            rewards.copy(),
            terminated.copy(),
            truncated.copy(),
            infos,
        )

    def positions(self) -> list[Position]:
        """Where each environment is in its episode, for `restore`."""
        return [lane.position() for lane in self._lanes]

    def restore(self, positions: Sequence[Position]) -> bool:
        """Bring newly made environments to `positions`; False when one did not come out the same.

        Those that did not have begun a new episode.
        """
        is_same = True
        for index, (lane, position) in enumerate(zip(self._lanes, positions, strict=True)):
            observation, came_back = lane.restore(position)
            self.observations[index] = observation
            is_same = is_same and came_back
        return is_same

    def close_extras(self, **_: Any) -> None:
        for env in self.envs:
            env.close()

    def _infos_of_ends(self, ended: list[tuple[int, Any, dict[str, Any]]]) -> dict[str, Any]:
        """In the form of gymnasium's vector environments."""
        count = self.num_envs
        has_ended = np.zeros(count, dtype=np.bool_)
        is_told = np.zeros(count, dtype=np.bool_)
        last = np.full(count, None, dtype=object)
        returns, lengths = np.zeros(count), np.zeros(count, dtype=np.int64)
        for index, observation, info in ended:
            has_ended[index] = True
            last[index] = observation
            lane = self._lanes[index]
            told = info.get("episode")
            if told is not None:
                returns[index], lengths[index] = float(told["r"]), int(told["l"])
            else:
                returns[index], lengths[index] = lane.last_return, lane.last_length
            is_told[index] = told is not None or self._reports_every_end
        episode = {"r": returns, "l": lengths, "_r": is_told, "_l": is_told}
        return {
            "final_obs": last,
            "_final_obs": has_ended,
            "final_info": {"episode": episode, "_episode": is_told},
            "_final_info": has_ended,
        }
