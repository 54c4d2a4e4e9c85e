"""SameStepVector: ends of episodes, and restoring."""

from __future__ import annotations

import unittest
import warnings
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from workers.cleanrl_worker.tests.hand_made_environments import Counting, with_time_limit

from cleanrl_worker.environments.make_env import flatten_observation, make_vector_env
from cleanrl_worker.environments.same_step_vector import SameStepVector
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.errors import WorkerError


def play(envs: Any, steps: int, sample: Any) -> list[tuple[Any, ...]]:
    seen = []
    for _ in range(steps):
        actions = np.stack([sample() for _ in range(envs.num_envs)])
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        seen.append((observations.copy(), rewards.copy(), terminated.copy(), truncated.copy()))
    return seen


def is_same(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    return all(
        np.array_equal(left, right)
        for step, other_step in zip(one, other, strict=True)
        for left, right in zip(step, other_step, strict=True)
    )


class EndsTest(unittest.TestCase):
    def test_a_time_limit_truncates(self) -> None:
        """Truncated and not terminated, with the final observation and the next first one."""
        envs = SameStepVector([with_time_limit(Counting(), 3), with_time_limit(Counting(), 5)])
        envs.reset(seed=1)
        for _ in range(2):
            *_, infos = envs.step(np.zeros(2, dtype=np.int64))
            self.assertEqual(infos, {})

        observations, rewards, terminated, truncated, infos = envs.step(np.zeros(2, np.int64))

        self.assertEqual(observations.tolist(), [[0.0], [3.0]])
        self.assertEqual(rewards.tolist(), [1.0, 1.0])
        self.assertEqual(terminated.tolist(), [False, False])
        self.assertEqual(truncated.tolist(), [True, False])
        self.assertEqual(infos["_final_obs"].tolist(), [True, False])
        self.assertEqual(infos["final_obs"][0].tolist(), [3.0])
        episode = infos["final_info"]["episode"]
        self.assertEqual((episode["r"][0], episode["l"][0]), (3.0, 3))
        self.assertEqual(episode["_r"].tolist(), [True, False])

    def test_the_end_of_the_task_terminates(self) -> None:
        """It is not truncated."""
        envs = SameStepVector([with_time_limit(Counting(ends_after=2), 10)])
        envs.reset(seed=1)
        envs.step(np.zeros(1, np.int64))

        observations, _, terminated, truncated, infos = envs.step(np.zeros(1, np.int64))

        self.assertEqual(observations.tolist(), [[0.0]])
        self.assertEqual((terminated.tolist(), truncated.tolist()), ([True], [False]))
        self.assertEqual(infos["final_obs"][0].tolist(), [2.0])

    def test_a_reset_takes_no_step(self) -> None:
        """The step after an end is the first of the next episode."""
        envs = SameStepVector([with_time_limit(Counting(ends_after=2), 10)])
        envs.reset(seed=1)
        ended = [envs.step(np.zeros(1, np.int64))[2][0] for _ in range(6)]

        self.assertEqual(ended, [False, True] * 3)

    def test_it_matches_gymnasiums_sync_vector_env(self) -> None:
        """Equal to SyncVectorEnv in same-step mode, including ends."""
        for env_id in ("CartPole-v1", "FrozenLake-v1", "Pendulum-v1", "Acrobot-v1"):
            with self.subTest(env_id):
                ours = make_vector_env(env_id, {}, 3, lambda env: env)
                theirs = SyncVectorEnv(
                    [partial(gym.make, env_id)] * 3,
                    autoreset_mode=AutoresetMode.SAME_STEP,
                )
                first, _ = ours.reset(seed=7)
                first_theirs, _ = theirs.reset(seed=7)
                np.testing.assert_array_equal(first, first_theirs)
                for envs in (ours, theirs):
                    envs.single_action_space.seed(3)
                sample, other = ours.single_action_space.sample, theirs.single_action_space.sample
                self.assertTrue(is_same(play(ours, 250, sample), play(theirs, 250, other)))
                theirs.close()
                ours.close()

    def test_actions_with_a_start_above_zero(self) -> None:
        """The learner's actions start at 0."""
        actions: list[int] = []

        class RecordingActions(Counting):
            def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
                actions.append(action)
                return super().step(action)

        envs = SameStepVector(
            [with_time_limit(RecordingActions(actions=spaces.Discrete(3, start=5)), 10)]
        )
        envs.reset(seed=1)
        envs.step(np.array([2]))

        self.assertEqual(actions, [7])

    def test_an_environment_without_render_mode(self) -> None:
        """It trains even if frames are requested."""
        gym.register("WithoutRenderMode-v0", lambda: Counting())  # type: ignore[arg-type] # noqa: PLW0108
        self.addCleanup(gym.registry.pop, "WithoutRenderMode-v0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            envs = make_vector_env(
                "WithoutRenderMode-v0", {}, 2, flatten_observation, renders_first=True
            )

        self.assertEqual(envs.num_envs, 2)

    def test_dict_observations_are_rejected(self) -> None:
        """With the space in the message, before anything runs."""
        with self.assertRaises(WorkerError) as caught:
            make_vector_env("Blackjack-v1", {}, 1, lambda env: env)
        self.assertIn("must be a single array", caught.exception.message)

    def test_observations_are_flattened(self) -> None:
        """A discrete state becomes an array, and so does a tuple."""
        for env_id, size in (("FrozenLake-v1", 16), ("Blackjack-v1", 32 + 11 + 2)):
            envs = make_vector_env(env_id, {}, 2, flatten_observation)
            self.assertEqual(envs.reset(seed=1)[0].shape, (2, size))
            envs.close()


class RestoreTest(unittest.TestCase):
    def test_new_environments_are_restored_to_positions(self) -> None:
        """The same steps follow, within episodes and across their ends."""
        for env_id in ("CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "MountainCar-v0"):
            with self.subTest(env_id):
                first = make_vector_env(env_id, {}, 2, flatten_observation)
                first.reset(seed=5)
                space = first.single_action_space
                space.seed(11)
                play(first, 60, space.sample)
                positions = first.positions()
                space.seed(12)
                expected = play(first, 120, space.sample)

                second = make_vector_env(env_id, {}, 2, flatten_observation)
                self.assertTrue(second.restore(positions))
                space.seed(12)
                self.assertTrue(is_same(play(second, 120, space.sample), expected))
                first.close()
                second.close()

    def test_an_environment_that_differs_starts_a_new_episode(self) -> None:
        """The difference is reported, and a new episode starts instead of a wrong one."""
        first = make_vector_env("CartPole-v1", {}, 1, flatten_observation)
        first.reset(seed=5)
        play(first, 5, first.single_action_space.sample)
        (position,) = first.positions()
        wrong = position._replace(observation=position.observation + 1)

        second = SameStepVector([make_environment("CartPole-v1", {})])

        self.assertFalse(second.restore([wrong]))
        self.assertEqual(len(second.positions()[0].actions), 0)


if __name__ == "__main__":
    unittest.main()
