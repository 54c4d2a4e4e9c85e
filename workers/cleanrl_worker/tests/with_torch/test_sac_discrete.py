"""Discrete SAC: truncation is bootstrapped, entropy is tuned, and it resumes exactly."""

from __future__ import annotations

import dataclasses
import math
import tempfile
import unittest
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import small_environments
import torch
from learner_checks import (
    assert_acts,
    assert_depends_only_on_seed,
    assert_resumes_exactly,
    train_learner,
    train_to_checkpoint,
)

from cleanrl_worker.learners import sac
from cleanrl_worker.session.checkpoint import read_checkpoint, write_checkpoint

QUICK = sac.Args(
    total_timesteps=400,
    buffer_size=200,
    learning_starts=100,
    update_frequency=4,
    batch_size=16,
)


class SacTest(unittest.TestCase):
    """On CartPole, and on environments with known values."""

    def setUp(self) -> None:
        small_environments.register()

    def train_agent(self, env_id: str, **changes: Any) -> sac.Agent:
        settings: dict[str, Any] = {
            "env_id": env_id,
            "total_timesteps": 1_500,
            "gamma": 0.9,
            "q_lr": 5e-3,
            "tau": 0.1,
            "buffer_size": 300,
            "batch_size": 32,
            "learning_starts": 100,
            "update_frequency": 2,
            "target_network_frequency": 2,
            **changes,
        }
        checkpoint, _ = train_to_checkpoint(sac, sac.Args(**settings))
        agent = sac.Agent(2, 2)
        agent.load_state_dict(checkpoint.policy)
        return agent

    def value_of_waiting(self, env_id: str) -> Any:
        agent = self.train_agent(env_id, autotune=False, alpha=1e-4)
        with torch.no_grad():
            rows = torch.from_numpy(small_environments.WAITING[None])
            return sac.min_q_values(agent.critics, rows).numpy()

    def test_truncation_is_bootstrapped(self) -> None:
        """Waiting forever has the value 1 / (1 - 0.9), although truncated after 3 steps."""
        np.testing.assert_allclose(
            self.value_of_waiting(small_environments.TRUNCATED), 10, atol=0.5
        )

    def test_termination_is_not_bootstrapped(self) -> None:
        """With two steps or one left, the value is 1.9 or 1."""
        values = self.value_of_waiting(small_environments.TERMINATED)
        self.assertTrue(((values > 0.9) & (values < 2.0)).all(), values)

    def test_entropy_is_part_of_the_value(self) -> None:
        """With two equivalent actions, each later step adds alpha x log 2."""
        agent = self.train_agent(small_environments.TRUNCATED, autotune=False, alpha=1.0)
        with torch.no_grad():
            rows = torch.from_numpy(small_environments.WAITING[None])
            values = sac.min_q_values(agent.critics, rows).numpy()
        np.testing.assert_allclose(values, 10 + 9 * math.log(2), rtol=0.06)

    def test_alpha_may_be_zero(self) -> None:
        """A fixed alpha is used unchanged, also 0."""
        _, sink = train_to_checkpoint(sac, dataclasses.replace(QUICK, autotune=False, alpha=0.0))
        self.assertEqual({value for _, value in sink.curves["losses/alpha"]}, {0.0})

    def test_a_warm_start_acts_with_the_trained_policy(self) -> None:
        """Without random actions before it."""
        checkpoint, _ = train_to_checkpoint(sac, QUICK)
        checkpoint.policy["actor.4.bias"][0] = 1_000.0
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "deterministic.pt"
            write_checkpoint(checkpoint, path)
            args = dataclasses.replace(QUICK, total_timesteps=90)
            train_learner(sac, args, Path(directory), warm_start=path)
            saved = read_checkpoint(Path(directory) / "checkpoints" / "last.pt")
        self.assertEqual(set(saved.training["buffer"]["actions"].tolist()), {0})

    def test_a_fixed_alpha_replaces_a_tuned_one(self) -> None:
        """For a warm start and for a resumed training."""
        fixed = dataclasses.replace(QUICK, autotune=False, alpha=0.05, total_timesteps=600)
        with tempfile.TemporaryDirectory() as directory:
            train_learner(sac, QUICK, Path(directory))
            path = Path(directory) / "checkpoints" / "last.pt"
            for options in ({"warm_start": path}, {"resume": path}):
                sink = train_learner(sac, fixed, Path(directory) / next(iter(options)), **options)
                logged = {round(value, 6) for _, value in sink.curves["losses/alpha"]}
                self.assertEqual(logged, {0.05})

    def test_resumes_exactly(self) -> None:
        """From a checkpoint in the middle of an episode."""
        assert_resumes_exactly(self, sac, QUICK, 250)

    def test_depends_only_on_seed(self) -> None:
        """Training is reproducible."""
        assert_depends_only_on_seed(self, sac, QUICK)

    def test_policy_acts(self) -> None:
        """From a checkpoint alone."""
        checkpoint, _ = train_to_checkpoint(sac, QUICK)
        assert_acts(self, sac, checkpoint, gym.make("CartPole-v1"))


if __name__ == "__main__":
    unittest.main()
