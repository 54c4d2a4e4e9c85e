"""PQN: it learns, truncation is bootstrapped, and it resumes exactly."""

from __future__ import annotations

import unittest
from typing import Any

import gymnasium as gym
import numpy as np
import small_environments
from learner_checks import (
    assert_acts,
    assert_depends_only_on_seed,
    assert_resumes_exactly,
    train_to_checkpoint,
)

from cleanrl_worker.learners import pqn

QUICK = pqn.Args(total_timesteps=512, num_envs=2, num_steps=32)


class PqnTest(unittest.TestCase):
    """On CartPole, and on environments with known values."""

    def setUp(self) -> None:
        small_environments.register()

    def value_of_waiting(self, env_id: str) -> Any:
        args = pqn.Args(
            env_id=env_id,
            total_timesteps=3_200,
            num_envs=2,
            num_steps=8,
            learning_rate=3e-3,
            gamma=0.9,
            num_minibatches=1,
            update_epochs=4,
        )
        checkpoint, _ = train_to_checkpoint(pqn, args)
        agent = pqn.Agent(2, 2)
        agent.load_state_dict(checkpoint.policy)
        return agent.predict_q_values(small_environments.WAITING[None])

    def test_truncation_is_bootstrapped(self) -> None:
        """Waiting forever has the value 1 / (1 - 0.9), although truncated after 3 steps."""
        np.testing.assert_allclose(
            self.value_of_waiting(small_environments.TRUNCATED), 10, atol=0.5
        )

    def test_termination_is_not_bootstrapped(self) -> None:
        """With two steps or one left, the value is 1.9 or 1."""
        values = self.value_of_waiting(small_environments.TERMINATED)
        self.assertTrue(((values > 0.9) & (values < 2.0)).all(), values)

    def test_resumes_exactly(self) -> None:
        """From a checkpoint between two updates."""
        assert_resumes_exactly(self, pqn, QUICK, 256)

    def test_depends_only_on_seed(self) -> None:
        """Training is reproducible."""
        assert_depends_only_on_seed(self, pqn, QUICK)

    def test_policy_acts(self) -> None:
        """From a checkpoint alone."""
        checkpoint, _ = train_to_checkpoint(pqn, QUICK)
        assert_acts(self, pqn, checkpoint, gym.make("CartPole-v1"))


if __name__ == "__main__":
    unittest.main()
