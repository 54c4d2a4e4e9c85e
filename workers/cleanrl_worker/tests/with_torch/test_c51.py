"""C51: projection keeps the mean, truncation is bootstrapped, and it resumes exactly."""

from __future__ import annotations

import dataclasses
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

from cleanrl_worker.common.distributions import project_distribution
from cleanrl_worker.learners import c51
from cleanrl_worker.session.checkpoint import read_checkpoint, write_checkpoint

QUICK = c51.Args(
    total_timesteps=500,
    n_atoms=11,
    buffer_size=200,
    learning_starts=100,
    train_frequency=4,
    target_network_frequency=70,
    batch_size=16,
)


class ProjectionTest(unittest.TestCase):
    """The projection onto fixed atoms."""

    def test_projection_keeps_the_mean(self) -> None:
        """Returns between two atoms are split so that mean and sum stay the same."""
        torch.manual_seed(1)
        atoms = torch.linspace(-2.0, 5.0, 8)
        probabilities = torch.rand(6, 8).softmax(dim=1)
        returns = torch.rand(6, 8) * 7.0 - 2.0
        projected = project_distribution(probabilities, returns, atoms)
        torch.testing.assert_close(projected.sum(dim=1), torch.ones(6))
        torch.testing.assert_close(projected @ atoms, (probabilities * returns).sum(dim=1))

    def test_returns_on_an_atom_or_outside_are_not_split(self) -> None:
        """Returns beyond the support are clipped to its bounds."""
        atoms = torch.tensor([0.0, 1.0, 2.0])
        probabilities = torch.tensor([[0.2, 0.3, 0.5]])
        projected = project_distribution(probabilities, torch.tensor([[1.0, 7.0, -3.0]]), atoms)
        torch.testing.assert_close(projected, torch.tensor([[0.5, 0.2, 0.3]]))


class C51Test(unittest.TestCase):
    """On CartPole, and on environments with known values."""

    def setUp(self) -> None:
        small_environments.register()

    def value_of_waiting(self, env_id: str) -> Any:
        args = c51.Args(
            env_id=env_id,
            total_timesteps=1_400,
            learning_rate=5e-3,
            n_atoms=21,
            v_min=0.0,
            v_max=20.0,
            buffer_size=300,
            gamma=0.9,
            target_network_frequency=20,
            batch_size=32,
            learning_starts=100,
            train_frequency=1,
        )
        checkpoint, _ = train_to_checkpoint(c51, args)
        agent = c51.Agent(2, 2, n_atoms=21, v_min=0.0, v_max=20.0)
        agent.load_state_dict(checkpoint.policy)
        return c51.QValues(agent, 2)(small_environments.WAITING[None])

    def test_truncation_is_bootstrapped(self) -> None:
        """Waiting forever has the value 1 / (1 - 0.9), although truncated after 3 steps."""
        np.testing.assert_allclose(
            self.value_of_waiting(small_environments.TRUNCATED), 10, atol=0.7
        )

    def test_termination_is_not_bootstrapped(self) -> None:
        """With two steps or one left, the value is 1.9 or 1."""
        values = self.value_of_waiting(small_environments.TERMINATED)
        self.assertTrue(((values > 0.9) & (values < 2.0)).all(), values)

    def test_resumes_exactly(self) -> None:
        """From a checkpoint in the middle of an episode."""
        assert_resumes_exactly(self, c51, QUICK, 300)

    def test_recommended_support_is_wide_enough(self) -> None:
        """In CliffWalking, a fall can be distinguished from a step."""
        recommended: Any = c51.RECOMMENDED["toy-text"]
        args = c51.Args(**recommended)
        states: Any = gym.make("CliffWalking-v1").unwrapped
        outcomes = [
            o for actions in states.P.values() for results in actions.values() for o in results
        ]
        rewards = [float(reward) for _, _, reward, _ in outcomes]
        self.assertLessEqual(args.v_min, min(rewards))
        self.assertGreaterEqual(args.v_max, 1.0)

    def test_a_warm_start_acts_with_the_trained_policy(self) -> None:
        """A deterministic policy acts from the first step on."""
        checkpoint, _ = train_to_checkpoint(c51, QUICK)
        bias = checkpoint.policy["network.4.bias"].zero_().view(2, -1)
        bias[0, -1] = bias[1, 0] = 1_000.0
        args = dataclasses.replace(QUICK, end_e=0.0, total_timesteps=90)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "deterministic.pt"
            write_checkpoint(checkpoint, path)
            train_learner(c51, args, Path(directory), warm_start=path)
            saved = read_checkpoint(Path(directory) / "checkpoints" / "last.pt")
        self.assertEqual(set(saved.training["buffer"]["actions"].tolist()), {0})

    def test_depends_only_on_seed(self) -> None:
        """Training is reproducible."""
        assert_depends_only_on_seed(self, c51, QUICK)

    def test_policy_acts(self) -> None:
        """From a checkpoint alone."""
        checkpoint, _ = train_to_checkpoint(c51, QUICK)
        assert_acts(self, c51, checkpoint, gym.make("CartPole-v1"))


if __name__ == "__main__":
    unittest.main()
