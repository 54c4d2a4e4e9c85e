"""The replay buffer: final observations, sampling, overwriting and saving."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from cleanrl_worker.common.replay_buffer import ReplayBuffer

OBSERVATIONS = spaces.Box(-np.inf, np.inf, (2,), np.float64)
ACTIONS = spaces.Box(-1.0, 1.0, (1,), np.float32)


def filled(size: int, steps: int, num_envs: int = 2) -> ReplayBuffer:
    """The n-th transition has the observation [n, 0] and the reward n."""
    buffer = ReplayBuffer(size, num_envs, OBSERVATIONS, ACTIONS)
    for step in range(steps):
        numbers = step * num_envs + np.arange(num_envs)
        observations = np.stack([numbers, np.zeros(num_envs)], axis=1)
        buffer.add(
            observations, np.zeros((num_envs, 1)), numbers, numbers < 0, observations + 1, {}
        )
    return buffer


class ReplayBufferTest(unittest.TestCase):
    def test_the_final_observation_is_stored(self) -> None:
        """For both kinds of end; only a terminated episode has no next value."""
        buffer = ReplayBuffer(10, 3, OBSERVATIONS, ACTIONS)
        first_of_next = np.full((3, 2), 7.0)
        last = np.full(3, None, dtype=object)
        last[0], last[2] = np.array([1.0, 1.0]), np.array([2.0, 2.0])
        infos = {"final_obs": last, "_final_obs": np.array([True, False, True])}
        is_terminated = np.array([True, False, False])
        observations, actions = np.zeros((3, 2)), np.zeros((3, 1))
        buffer.add(observations, actions, np.ones(3), is_terminated, first_of_next, infos)
        batch = buffer.get_batch(np.arange(3))
        self.assertEqual(batch.next_observations[:, 0].tolist(), [1.0, 7.0, 2.0])
        self.assertEqual(batch.terminated.tolist(), [1.0, 0.0, 0.0])

    def test_the_oldest_are_overwritten(self) -> None:
        """A size that is not a multiple of the environments is rounded down."""
        buffer = filled(size=7, steps=5)
        self.assertEqual(len(buffer), 6)
        self.assertEqual(sorted(buffer.rewards.tolist()), [4.0, 5.0, 6.0, 7.0, 8.0, 9.0])

    def test_only_filled_rows_are_sampled(self) -> None:
        """Each row is one transition, and all of them are sampled."""
        np.random.seed(1)
        batch = filled(size=1_000, steps=4).sample(500)
        self.assertEqual(set(batch.rewards.tolist()), set(range(8)))
        self.assertTrue(torch.equal(batch.observations[:, 0], batch.rewards))
        self.assertTrue(torch.equal(batch.next_observations, batch.observations + 1))

    def test_batches_have_the_dtypes_of_networks(self) -> None:
        """Frames stay bytes, discrete actions integers; everything else is float32."""
        frames = ReplayBuffer(4, 1, spaces.Box(0, 255, (1, 8, 8), np.uint8), spaces.Discrete(3))
        frames.add(
            np.ones((1, 1, 8, 8)), np.array([2]), np.ones(1), np.zeros(1), np.ones((1, 1, 8, 8)), {}
        )
        batch = frames.sample(2)
        self.assertEqual(batch.observations.dtype, torch.uint8)
        self.assertEqual(batch.actions.tolist(), [2, 2])
        others = filled(size=4, steps=1).sample(2)
        self.assertEqual({column.dtype for column in others}, {torch.float32})

    def test_it_is_restored_from_a_file(self) -> None:
        """A restored buffer samples and overwrites like the saved one."""
        for steps in (2, 5):
            with self.subTest(steps=steps), tempfile.TemporaryDirectory() as folder:
                saved = filled(size=6, steps=steps)
                path = Path(folder, "buffer.pt")
                state = {name: _tensor(value) for name, value in saved.state().items()}
                torch.save(state, path)
                restored = ReplayBuffer(6, 2, OBSERVATIONS, ACTIONS)
                restored.load(torch.load(path, weights_only=True))
                for buffer in (saved, restored):
                    new = np.full((2, 2), 99.0)
                    buffer.add(new, new[:, :1], new[:, 0], np.zeros(2), new, {})
                np.testing.assert_array_equal(saved.rewards, restored.rewards)
                np.testing.assert_array_equal(saved.observations, restored.observations)
                self.assertEqual(len(saved), len(restored))

    def test_nbytes_counts_the_filled_part(self) -> None:
        """Regardless of the capacity."""
        self.assertEqual(filled(size=1_000, steps=3).nbytes, 6 * 4 * (2 + 2 + 1 + 1 + 1))

    def test_memory_is_allocated_as_it_fills(self) -> None:
        """A large, mostly empty buffer uses little memory."""
        before = _resident()
        buffer = ReplayBuffer(1_000_000, 1, spaces.Box(-1.0, 1.0, (32,), np.float32), ACTIONS)
        self.assertGreater(buffer.next_observations.nbytes, 100 << 20)
        self.assertLess(_resident() - before, 40 << 20)


def _resident() -> int:
    """Resident memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _tensor(value: Any) -> Any:
    return torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value


if __name__ == "__main__":
    unittest.main()
