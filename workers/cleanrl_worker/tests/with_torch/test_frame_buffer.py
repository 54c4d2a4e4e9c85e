"""A buffer of single frames returns the same transitions as a buffer of stacks."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np
from gymnasium import spaces
from numbered_frames import NumberedFrames, numbers_of

from cleanrl_worker.common.frame_buffer import FrameReplayBuffer
from cleanrl_worker.environments.same_step_vector import SameStepVector

SPACE = spaces.Box(0, 255, (4, 2, 2), np.uint8)


class Recorded:
    """Steps environments with frames, and records each transition."""

    def __init__(
        self, buffer: FrameReplayBuffer, lengths: list[int], *, is_truncated: bool = False
    ) -> None:
        self.envs = SameStepVector(
            [
                NumberedFrames(length, 1_000_000 * index, is_truncated=is_truncated)
                for index, length in enumerate(lengths)
            ]
        )
        self.buffer = buffer
        self.transitions: dict[tuple[int, ...], tuple[Any, ...]] = {}
        self._obs, _ = self.envs.reset(seed=1)

    def start_new_episodes(self) -> None:
        """Start other episodes before the current ones have ended."""
        self._obs, _ = self.envs.reset(seed=2)
        self.buffer.start_new_episodes()

    def step(self, count: int) -> None:
        for _ in range(count):
            actions = np.random.randint(0, 5, size=self.envs.num_envs)
            result = self.envs.step(actions)
            next_obs, rewards, terminated, _, infos = result
            self.buffer.add(self._obs, actions, rewards, terminated, next_obs, infos)
            final_or_next = next_obs.copy()
            if infos:
                for index in np.flatnonzero(infos["_final_obs"]):
                    final_or_next[index] = infos["final_obs"][index]
            for env in range(self.envs.num_envs):
                key = (*numbers_of(self._obs[env]), int(rewards[env]))
                self.transitions[key] = (
                    numbers_of(final_or_next[env]),
                    int(actions[env]),
                    bool(terminated[env]),
                )
            self._obs = next_obs


def sampled(buffer: FrameReplayBuffer, count: int) -> list[tuple[tuple[int, ...], tuple[Any, ...]]]:
    """In the format of `Recorded.happened`."""
    batch = buffer.sample(count)
    rows = zip(*(column.numpy() for column in batch), strict=True)
    return [
        (
            (*numbers_of(observation), int(reward)),
            (numbers_of(final_or_next), int(action), bool(terminated)),
        )
        for observation, final_or_next, action, reward, terminated in rows
    ]


class FrameBufferTest(unittest.TestCase):
    """Every frame has a unique number."""

    def setUp(self) -> None:
        np.random.seed(3)

    def assert_samples_match(self, recorded: Recorded, count: int = 400) -> set[tuple[int, ...]]:
        samples = sampled(recorded.buffer, count)
        for key, transition in samples:
            self.assertEqual(recorded.transitions[key], transition)
        return {key for key, _ in samples}

    def test_sampled_transitions_match_the_episodes(self) -> None:
        """Stacks, actions, rewards and ends, across terminated episodes."""
        recorded = Recorded(FrameReplayBuffer(300, 2, SPACE), [7, 11])
        recorded.step(100)
        self.assertEqual(len(recorded.buffer), 200)
        self.assertGreater(len(self.assert_samples_match(recorded)), 150)

    def test_the_final_frame_of_a_truncated_episode_is_stored(self) -> None:
        """The next observation is the episode's final one, and not terminated."""
        recorded = Recorded(FrameReplayBuffer(100, 1, SPACE), [5], is_truncated=True)
        recorded.step(60)
        self.assert_samples_match(recorded)
        self.assertFalse(recorded.buffer.terminated.any())

    def test_a_full_buffer_samples_complete_stacks_only(self) -> None:
        """The oldest transitions lose their frames, at every position of the ring."""
        recorded = Recorded(FrameReplayBuffer(2 * 23, 2, SPACE), [6, 9])
        recorded.step(40)
        for _ in range(50):
            recorded.step(1)
            self.assert_samples_match(recorded, 60)
        # Of the 23 slots of a ring, 1 is the newest, 3 have no complete stack, 5 are final frames.
        self.assertGreaterEqual(len(recorded.buffer), 2 * (23 - 1 - 3 - 5))

    def test_can_start_within_an_episode(self) -> None:
        """A buffer that is refilled on resume has the frames before its first step."""
        recorded = Recorded(FrameReplayBuffer(100, 1, SPACE), [50])
        recorded.step(10)
        refilled = FrameReplayBuffer(100, 1, SPACE)
        recorded.buffer = refilled
        recorded.step(10)
        self.assertEqual(len(refilled), 10)
        self.assert_samples_match(recorded)

    def test_can_start_new_episodes_within_an_episode(self) -> None:
        """No transition leads from an abandoned episode to the next one."""
        recorded = Recorded(FrameReplayBuffer(100, 2, SPACE), [50, 60])
        recorded.step(10)
        recorded.start_new_episodes()
        recorded.step(10)
        self.assertEqual(len(recorded.buffer), 40)
        self.assertEqual(len(self.assert_samples_match(recorded)), 40)

    def test_continues_from_its_state(self) -> None:
        """A restored buffer samples the same batches."""
        recorded = Recorded(FrameReplayBuffer(2 * 30, 2, SPACE), [7, 8])
        recorded.step(45)
        other = FrameReplayBuffer(2 * 30, 2, SPACE)
        other.load(recorded.buffer.state())
        self.assertGreater(recorded.buffer.nbytes, 0)
        np.random.seed(5)
        first = sampled(recorded.buffer, 50)
        np.random.seed(5)
        self.assertEqual(first, sampled(other, 50))
        recorded.buffer = other
        recorded.step(20)
        self.assert_samples_match(recorded)


if __name__ == "__main__":
    unittest.main()
