"""A replay buffer for stacked frames that stores each frame once.

Consecutive observations share all frames but one, so only the newest frame of each is stored and
stacks are assembled when a batch is sampled: an eighth of the memory. Each environment has its own
ring of slots. A slot holds a frame and, unless it is the final one of an episode, the action that
was taken there; the next frame is always in the next slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from cleanrl_worker.common.replay_buffer import ReplayBatch

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLUMNS = {
    "pictures": "frames",
    "older": "stack_depth",
    "actions": "actions",
    "rewards": "rewards",
    "terminated": "terminated",
    "is_drawable": "is_valid",
}
"""Attribute names by their keys in checkpoints."""


class FrameReplayBuffer:
    """A ring of the newest transitions, sampled with numpy's global generator."""

    def __init__(
        self,
        size: int,
        num_envs: int,
        observation_space: Any,
        device: torch.device | str = "cpu",
    ) -> None:
        """Hold `size` frames of `num_envs` environments in total; batches are on `device`.

        Memory is allocated as the buffer fills.
        """
        self._stack, *frame_shape = observation_space.shape
        # The newest transition needs its own stack and the next frame.
        self._slots = max(size // num_envs, self._stack + 1)
        shape = (num_envs, self._slots)
        self.frames = np.zeros((*shape, *frame_shape), dtype=observation_space.dtype)
        self.stack_depth = np.zeros(shape, dtype=np.int64)
        """How many previous slots belong to the stack; at the start of an episode its first frame
        is repeated."""
        self.actions = np.zeros(shape, dtype=np.int64)
        self.rewards = np.zeros(shape, dtype=np.float32)
        self.terminated = np.zeros(shape, dtype=np.float32)
        self.is_valid = np.zeros(shape, dtype=np.bool_)
        """Whether a transition starts in the slot and all frames of its stack are stored."""
        self._written = np.zeros(num_envs, dtype=np.int64)
        """Frames written by each environment; the newest belongs to the next transition."""
        self._is_episode_start = np.ones(num_envs, dtype=np.bool_)
        self._device = torch.device(device)

    def __len__(self) -> int:
        """The number of transitions that can be sampled."""
        return int(self.is_valid.sum())

    def add(
        self,
        observations: Any,
        actions: Any,
        rewards: Any,
        terminated: Any,
        next_observations: Any,
        infos: Mapping[str, Any],
    ) -> None:
        """Add one step of all environments, as `SameStepVector.step` returned it."""
        for env, observation in enumerate(observations):
            if self._is_episode_start[env]:
                self._start_episode(env, observation)
            slot = (self._written[env] - 1) % self._slots
            self.actions[env, slot] = actions[env]
            self.rewards[env, slot] = rewards[env]
            self.terminated[env, slot] = terminated[env]
            is_done = bool(infos) and bool(infos["_final_obs"][env])
            next_obs = infos["final_obs"][env] if is_done else next_observations[env]
            depth = min(self.stack_depth[env, slot] + 1, self._stack - 1)
            self._write(env, next_obs[-1], depth)
            self.is_valid[env, slot] = True
            self._is_episode_start[env] = is_done

    def start_new_episodes(self) -> None:
        """Treat the next observations as the first ones of new episodes."""
        self._is_episode_start[:] = True

    def sample(self, batch_size: int) -> ReplayBatch:
        """Sample uniformly, with replacement."""
        filled = self._filled
        num_envs = len(self._written)
        chosen = np.empty(0, dtype=np.int64)
        while len(chosen) < batch_size:
            sampled = np.random.randint(0, num_envs * filled, size=batch_size)
            sampled = sampled[self.is_valid[sampled // filled, sampled % filled]]
            chosen = np.concatenate((chosen, sampled))
        chosen = chosen[:batch_size]
        return self.get_batch(chosen // filled, chosen % filled)

    def get_batch(self, envs: Any, slots: Any) -> ReplayBatch:
        """Return the transitions that start in the given slots."""
        columns = (
            self._stacks(envs, slots),
            self._stacks(envs, (slots + 1) % self._slots),
            self.actions[envs, slots],
            self.rewards[envs, slots],
            self.terminated[envs, slots],
        )
        return ReplayBatch(*(torch.from_numpy(column).to(self._device) for column in columns))

    @property
    def nbytes(self) -> int:
        """The size of `state`."""
        return sum(getattr(self, name)[:, : self._filled].nbytes for name in _COLUMNS.values())

    def state(self) -> dict[str, Any]:
        """Return the filled part, for a checkpoint: views that the next `add` may overwrite."""
        columns = {key: getattr(self, name)[:, : self._filled] for key, name in _COLUMNS.items()}
        return {**columns, "written": self._written, "is_beginning": self._is_episode_start}

    def load(self, state: Mapping[str, Any]) -> None:
        """Load the `state` of a buffer of the same size."""
        self._written[:] = np.asarray(state["written"])
        self._is_episode_start[:] = np.asarray(state["is_beginning"])
        for key, name in _COLUMNS.items():
            getattr(self, name)[:, : self._filled] = np.asarray(state[key])

    @property
    def _filled(self) -> int:
        """The largest number of used slots of an environment."""
        return int(min(self._written.max(), self._slots))

    def _start_episode(self, env: int, observation: Any) -> None:
        """Write the first stack of an episode, which normally repeats its first frame."""
        newest = observation[-1]
        if (observation[:-1] == newest).all():
            self._write(env, newest, 0)
            return
        for depth, frame in enumerate(observation):
            self._write(env, frame, depth)

    def _write(self, env: int, frame: Any, stack_depth: int) -> None:
        slot = self._written[env] % self._slots
        self.frames[env, slot] = frame
        self.stack_depth[env, slot] = stack_depth
        # The next slots of the ring are the oldest, and lose the frame that was stored here.
        invalid = np.arange(slot, slot + self._stack) % self._slots
        self.is_valid[env, invalid] = False
        self._written[env] += 1

    def _stacks(self, envs: Any, slots: Any) -> Any:
        back = np.arange(self._stack - 1, -1, -1)
        stacked = slots[:, None] - np.minimum(back, self.stack_depth[envs, slots][:, None])
        return self.frames[envs[:, None], stacked % self._slots]
