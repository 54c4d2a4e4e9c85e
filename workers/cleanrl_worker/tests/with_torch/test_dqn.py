"""DQN: it learns, truncation is bootstrapped, and it resumes exactly."""

from __future__ import annotations

import dataclasses
import tempfile
import unittest
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import small_environments
from learner_checks import (
    assert_acts,
    assert_depends_only_on_seed,
    assert_resumes_exactly,
    train_learner,
    train_to_checkpoint,
)
from quiet_session import RecordingSink

from cleanrl_worker.common.numpy_mlp import NumpyMlp
from cleanrl_worker.learners import dqn
from cleanrl_worker.session.checkpoint import (
    TrainingCheckpoint,
    read_checkpoint,
    write_checkpoint,
)

QUICK = dqn.Args(
    total_timesteps=600,
    buffer_size=200,
    learning_starts=100,
    train_frequency=3,
    target_network_frequency=70,
    batch_size=16,
)


def values_of(checkpoint: TrainingCheckpoint, observation: Any) -> Any:
    agent = dqn.Agent(2, 2)
    agent.load_state_dict(checkpoint.policy)
    return NumpyMlp(agent.network)(observation)


def count_buffer_messages(sink: RecordingSink) -> int:
    return sum("replay buffer" in text for _, text in sink.messages)


class DqnTest(unittest.TestCase):
    """On CartPole, and on environments with known values."""

    def setUp(self) -> None:
        small_environments.register()

    def value_of_waiting(self, env_id: str, num_envs: int = 1) -> Any:
        args = dqn.Args(
            env_id=env_id,
            num_envs=num_envs,
            total_timesteps=1_400,
            learning_rate=5e-3,
            buffer_size=300,
            gamma=0.9,
            target_network_frequency=20,
            batch_size=32,
            learning_starts=100,
            train_frequency=1,
        )
        checkpoint, _ = train_to_checkpoint(dqn, args)
        return values_of(checkpoint, small_environments.WAITING)

    def test_learns_to_balance(self) -> None:
        """Episodes of CartPole get several times longer than random ones with 20 steps."""
        args = dqn.Args(
            total_timesteps=14_000,
            learning_rate=1e-3,
            learning_starts=500,
            train_frequency=3,
            target_network_frequency=150,
            exploration_fraction=0.3,
        )
        _, sink = train_to_checkpoint(dqn, args)
        returns = [episode.episode_return for _, episode in sink.finished]
        self.assertGreater(np.mean(returns[-15:]), 100)

    def test_truncation_is_bootstrapped(self) -> None:
        """Waiting forever has the value 1 / (1 - 0.9), although truncated after 3 steps."""
        np.testing.assert_allclose(
            self.value_of_waiting(small_environments.TRUNCATED), 10, atol=0.5
        )

    def test_several_environments_learn_like_one(self) -> None:
        """Truncated at different positions of the buffer, the values are the same."""
        values = self.value_of_waiting(small_environments.TRUNCATED, num_envs=3)
        np.testing.assert_allclose(values, 10, atol=0.5)

    def test_termination_is_not_bootstrapped(self) -> None:
        """With two steps or one left, the value is 1.9 or 1."""
        values = self.value_of_waiting(small_environments.TERMINATED)
        self.assertTrue(((values > 0.9) & (values < 2.0)).all(), values)

    def test_epsilon_decreases_linearly(self) -> None:
        """Down to its final value."""
        _, sink = train_to_checkpoint(dqn, dataclasses.replace(QUICK, end_e=0.1))
        logged = sink.curves["charts/epsilon"]
        for step, epsilon in logged:
            # The schedule ends after half of the steps.
            expected = max(0.1, 1.0 - 0.9 * (step - 1) / 300)
            self.assertAlmostEqual(epsilon, expected)
        self.assertEqual(logged[-1][1], 0.1)

    def test_resumes_exactly(self) -> None:
        """From a checkpoint in the middle of an episode, with one or several environments."""
        for num_envs in (1, 3):
            with self.subTest(num_envs=num_envs):
                args = dataclasses.replace(QUICK, num_envs=num_envs)
                assert_resumes_exactly(self, dqn, args, 300)

    def test_depends_only_on_seed(self) -> None:
        """Training is reproducible."""
        assert_depends_only_on_seed(self, dqn, QUICK)

    def test_refills_a_buffer_that_was_too_large(self) -> None:
        """It is logged, and learning continues once there are enough steps."""
        args = dataclasses.replace(QUICK, checkpoint_every=300, checkpoint_buffer_mb=0)
        with tempfile.TemporaryDirectory() as directory:
            train_learner(dqn, args, Path(directory))
            path = Path(directory) / "checkpoints" / "step-300.pt"
            resumed = train_learner(dqn, args, Path(directory) / "again", resume=path)
        self.assertEqual(count_buffer_messages(resumed), 1)
        first = resumed.curves["losses/td_loss"][0][0]
        self.assertGreater(first, 300 + args.learning_starts)

    def test_warns_once_that_checkpoints_omit_the_buffer(self) -> None:
        """Early, and not with every checkpoint."""
        args = dataclasses.replace(QUICK, checkpoint_every=100, checkpoint_buffer_mb=0)
        _, sink = train_to_checkpoint(dqn, args)
        self.assertGreater(len(sink.saved), 2)
        self.assertEqual(count_buffer_messages(sink), 1)
        self.assertEqual(count_buffer_messages(train_to_checkpoint(dqn, QUICK)[1]), 0)

    def test_a_warm_start_acts_with_the_trained_policy(self) -> None:
        """A deterministic policy acts from the first step on, resumed or not."""
        checkpoint, _ = train_to_checkpoint(dqn, QUICK)
        checkpoint.policy["network.4.bias"][0] = 1_000.0
        args = dataclasses.replace(QUICK, end_e=0.0, total_timesteps=90)
        longer = dataclasses.replace(args, total_timesteps=300)
        with tempfile.TemporaryDirectory() as directory:
            path, warm = Path(directory) / "deterministic.pt", Path(directory) / "warm"
            write_checkpoint(checkpoint, path)
            train_learner(dqn, args, warm, warm_start=path)
            last = warm / "checkpoints" / "last.pt"
            actions = read_checkpoint(last).training["buffer"]["actions"]
            resumed = train_learner(dqn, longer, Path(directory) / "again", resume=last)
        self.assertEqual(set(actions.tolist()), {0})
        self.assertEqual({epsilon for _, epsilon in resumed.curves["charts/epsilon"]}, {0.0})

    def test_policy_acts(self) -> None:
        """From a checkpoint alone."""
        checkpoint, _ = train_to_checkpoint(dqn, QUICK)
        assert_acts(self, dqn, checkpoint, gym.make("CartPole-v1"))

    def test_integer_observations(self) -> None:
        """States of FrozenLake are integers."""
        args = dataclasses.replace(QUICK, env_id="FrozenLake-v1")
        checkpoint, _ = train_to_checkpoint(dqn, args)
        assert_acts(self, dqn, checkpoint, dqn.wrap_for_playing(gym.make("FrozenLake-v1")))


if __name__ == "__main__":
    unittest.main()
