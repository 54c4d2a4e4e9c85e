"""A vector environment that steps its environments one after the other, in this process.

The interface is that of `gymnasium.vector.SyncVectorEnv` in same-step autoreset mode: when an
episode ends, `step` returns the first observation of the next one, and `infos["final_obs"]` holds
the final observation. It has less overhead per step, and it can be restored from a checkpoint: see
`positions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, create_empty_array

from cleanrl_worker.environments.env_slot import EnvSlot
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cleanrl_worker.environments.env_slot import EnvPosition

_ARRAY_SPACES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


class SameStepVector(VectorEnv):  # type: ignore[type-arg]
    """`observations` is the result of the last reset or step; the next one overwrites it."""

    single_observation_space: Any
    single_action_space: Any

    def __init__(self, envs: Sequence[Any], *, reports_every_end: bool = True) -> None:
        """Without `reports_every_end`, ends without `info["episode"]` (lost lives) are omitted."""
        self.envs = list(envs)
        self.num_envs = len(self.envs)
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        if not isinstance(self.single_observation_space, _ARRAY_SPACES):
            raise WorkerError(
                "The observation space must be a single array, got"
                f" {self.single_observation_space}.",
                remedy="Choose an environment whose observation is one array of numbers.",
            )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.spec = self.envs[0].spec
        self.observations: Any = create_empty_array(
            self.single_observation_space, n=self.num_envs, fn=np.zeros
        )
        self._slots = [EnvSlot(env) for env in self.envs]
        self._reports_every_end = reports_every_end
        self._is_discrete = isinstance(self.single_action_space, spaces.Discrete)
        self._first_action = int(getattr(self.single_action_space, "start", 0))
        self._rewards = np.zeros(self.num_envs, dtype=np.float64)
        self._terminated = np.zeros(self.num_envs, dtype=np.bool_)
        self._truncated = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Environment i is seeded with `seed` + i."""
        for index, slot in enumerate(self._slots):
            env_seed = None if seed is None else seed + index
            self.observations[index] = slot.reset(env_seed, options)
        return self.observations.copy(), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """`infos` is empty unless an episode has ended. Discrete actions start at 0."""
        observations = self.observations
        rewards, terminated, truncated = self._rewards, self._terminated, self._truncated
        ended: list[tuple[int, Any, dict[str, Any]]] | None = None
        # A list of Python integers is the fastest to iterate over.
        env_actions = (actions + self._first_action).tolist() if self._is_discrete else actions
        for index, (slot, action) in enumerate(zip(self._slots, env_actions, strict=True)):
            observation, reward, is_terminated, is_truncated, info = slot.step(action)
            rewards[index] = reward
            terminated[index] = is_terminated
            truncated[index] = is_truncated
            if is_terminated or is_truncated:
                if ended is None:
                    ended = []
                ended.append((index, np.array(observation), info))
                observation = slot.reset(None, None)
            observations[index] = observation
        infos = {} if ended is None else self._final_infos(ended)
        return (
            observations.copy(),
            rewards.copy(),
            terminated.copy(),
            truncated.copy(),
            infos,
        )

    def positions(self) -> list[EnvPosition]:
        """Return the position of each environment in its episode, for `restore`."""
        return [slot.position() for slot in self._slots]

    def restore(self, positions: Sequence[EnvPosition]) -> bool:
        """Restore newly made environments to `positions`; False if an observation differs.

        An environment whose observation differs starts a new episode.
        """
        is_same = True
        for index, (slot, position) in enumerate(zip(self._slots, positions, strict=True)):
            observation, is_restored = slot.restore(position)
            self.observations[index] = observation
            is_same = is_same and is_restored
        return is_same

    def close_extras(self, **_: Any) -> None:
        for env in self.envs:
            env.close()

    def _final_infos(self, ended: list[tuple[int, Any, dict[str, Any]]]) -> dict[str, Any]:
        """Return `infos` in the form of gymnasium's vector environments."""
        count = self.num_envs
        is_done = np.zeros(count, dtype=np.bool_)
        is_reported = np.zeros(count, dtype=np.bool_)
        final_obs = np.full(count, None, dtype=object)
        returns, lengths = np.zeros(count), np.zeros(count, dtype=np.int64)
        for index, observation, info in ended:
            is_done[index] = True
            final_obs[index] = observation
            slot = self._slots[index]
            statistics = info.get("episode")
            if statistics is not None:
                returns[index], lengths[index] = float(statistics["r"]), int(statistics["l"])
            else:
                returns[index], lengths[index] = slot.last_return, slot.last_length
            is_reported[index] = statistics is not None or self._reports_every_end
        episode = {"r": returns, "l": lengths, "_r": is_reported, "_l": is_reported}
        return {
            "final_obs": final_obs,
            "_final_obs": is_done,
            "final_info": {"episode": episode, "_episode": is_reported},
            "_final_info": is_done,
        }
