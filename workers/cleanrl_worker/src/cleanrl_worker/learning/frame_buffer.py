"""Past transitions of environments whose observations are the last few pictures, each kept once.

Two observations that follow each other share all pictures but one, so only the newest picture of
each is stored and stacks are put together when a batch is drawn: an eighth of the memory. Each
environment has a ring of slots of its own. A slot holds a picture and, unless it is the last of an
episode, the action that was taken there; the picture that followed is always in the next slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from cleanrl_worker.learning.replay_buffer import Batch

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLUMNS = ("pictures", "older", "actions", "rewards", "terminated", "is_drawable")


class FrameBuffer:
    """Keeps the newest transitions; the oldest make room. Drawn by numpy's global generator."""

    def __init__(
        self,
        size: int,
        num_envs: int,
        observation_space: Any,
        device: torch.device | str = "cpu",
    ) -> None:
        """`size` pictures of `num_envs` environments together; batches come to `device`.

        Memory is taken as it is filled.
        """
        self._stack, *picture = observation_space.shape
        # The newest transition needs its own stack and the picture that follows.
        self._slots = max(size // num_envs, self._stack + 1)
        shape = (num_envs, self._slots)
        self.pictures = np.zeros((*shape, *picture), dtype=observation_space.dtype)
        self.older = np.zeros(shape, dtype=np.int64)
        """How many of the slots before belong to the stack; at the beginning of an episode its
        first picture fills the rest."""
        self.actions = np.zeros(shape, dtype=np.int64)
        self.rewards = np.zeros(shape, dtype=np.float32)
        self.terminated = np.zeros(shape, dtype=np.float32)
        self.is_drawable = np.zeros(shape, dtype=np.bool_)
        """Whether a transition begins there, and all pictures of its stack are still there."""
        self._written = np.zeros(num_envs, dtype=np.int64)
        """Pictures so far, of each environment; the newest is that of the next transition."""
        self._is_beginning = np.ones(num_envs, dtype=np.bool_)
        self._device = torch.device(device)

    def __len__(self) -> int:
        """How many transitions can be drawn."""
        return int(self.is_drawable.sum())

    def add(
        self,
        observations: Any,
        actions: Any,
        rewards: Any,
        terminated: Any,
        next_observations: Any,
        infos: Mapping[str, Any],
    ) -> None:
        """One step of all environments, as `SameStepVector.step` returned it."""
        for env, observation in enumerate(observations):
            if self._is_beginning[env]:
                self._begin(env, observation)
            slot = (self._written[env] - 1) % self._slots
            self.actions[env, slot] = actions[env]
            self.rewards[env, slot] = rewards[env]
            self.terminated[env, slot] = terminated[env]
            has_ended = bool(infos) and bool(infos["_final_obs"][env])
            followed = infos["final_obs"][env] if has_ended else next_observations[env]
            self._write(env, followed[-1], min(self.older[env, slot] + 1, self._stack - 1))
            self.is_drawable[env, slot] = True
            self._is_beginning[env] = has_ended

    def begin_anew(self) -> None:
        """The next pictures do not follow those before: other episodes have begun."""
        self._is_beginning[:] = True

    def sample(self, batch_size: int) -> Batch:
        """Drawn with replacement; each transition is as likely as any other."""
        filled = self._filled
        num_envs = len(self._written)
        chosen = np.empty(0, dtype=np.int64)
        while len(chosen) < batch_size:
            drawn = np.random.randint(0, num_envs * filled, size=batch_size)
            drawn = drawn[self.is_drawable[drawn // filled, drawn % filled]]
            chosen = np.concatenate((chosen, drawn))
        chosen = chosen[:batch_size]
        return self.rows(chosen // filled, chosen % filled)

    def rows(self, envs: Any, slots: Any) -> Batch:
        """The transitions that begin at the given slots."""
        parts = (
            self._stacks(envs, slots),
            self._stacks(envs, (slots + 1) % self._slots),
            self.actions[envs, slots],
            self.rewards[envs, slots],
            self.terminated[envs, slots],
        )
        return Batch(*(torch.from_numpy(part).to(self._device) for part in parts))

    @property
    def nbytes(self) -> int:
        """What `state` holds."""
        return sum(getattr(self, column)[:, : self._filled].nbytes for column in _COLUMNS)

    def state(self) -> dict[str, Any]:
        """The filled part, for a checkpoint: views that the next `add` may write to."""
        columns = {column: getattr(self, column)[:, : self._filled] for column in _COLUMNS}
        return {**columns, "written": self._written, "is_beginning": self._is_beginning}

    def load(self, state: Mapping[str, Any]) -> None:
        """What `state` gave, of a buffer of the same size."""
        self._written[:] = np.asarray(state["written"])
        self._is_beginning[:] = np.asarray(state["is_beginning"])
        for column in _COLUMNS:
            getattr(self, column)[:, : self._filled] = np.asarray(state[column])

    @property
    def _filled(self) -> int:
        """Slots that have been written to, of the environment with most of them."""
        return int(min(self._written.max(), self._slots))

    def _begin(self, env: int, observation: Any) -> None:
        """An episode's first stack repeats its first picture; one found midway has a past."""
        newest = observation[-1]
        if (observation[:-1] == newest).all():
            self._write(env, newest, 0)
            return
        for count, picture in enumerate(observation):
            self._write(env, picture, count)

    def _write(self, env: int, picture: Any, older: int) -> None:
        slot = self._written[env] % self._slots
        self.pictures[env, slot] = picture
        self.older[env, slot] = older
        # What follows in the ring is oldest, and loses the picture that was here.
        lost = np.arange(slot, slot + self._stack) % self._slots
        self.is_drawable[env, lost] = False
        self._written[env] += 1

    def _stacks(self, envs: Any, slots: Any) -> Any:
        back = np.arange(self._stack - 1, -1, -1)
        wanted = slots[:, None] - np.minimum(back, self.older[envs, slots][:, None])
        return self.pictures[envs[:, None], wanted % self._slots]
