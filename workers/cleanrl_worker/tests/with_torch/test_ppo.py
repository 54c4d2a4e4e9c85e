"""PPO: its computations, learning, and exact resuming."""

from __future__ import annotations

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
from quiet_session import quiet_session

from cleanrl_worker.common.distributions import categorical_log_prob, gumbel_noise
from cleanrl_worker.common.numpy_mlp import NumpyMlp
from cleanrl_worker.common.rollout import Rollout
from cleanrl_worker.learners import ppo
from mosaic_worker.errors import WorkerError

_BATCH = 64
_TINY = ppo.Args(num_envs=2, num_steps=32, total_timesteps=4 * _BATCH)


def _value_of_waiting(env_id: str) -> float:
    """The critic's value of any but the first step of an episode, after learning."""
    small_environments.register()
    args = ppo.Args(
        env_id=env_id,
        num_envs=2,
        num_steps=64,
        total_timesteps=6_000,
        learning_rate=5e-3,
        gamma=0.8,
        clip_vloss=False,
        max_grad_norm=10.0,
    )
    checkpoint, _ = train_to_checkpoint(ppo, args)
    agent = ppo.Agent(2, 2)
    agent.load_state_dict(checkpoint.policy)
    with torch.no_grad():
        return float(agent.critic(torch.from_numpy(small_environments.WAITING)))


class Ppo(unittest.TestCase):
    def test_log_probs_match_torch(self) -> None:
        """The first ratio of an update is 1: numpy and torch compute the same policy."""
        with tempfile.TemporaryDirectory() as directory:
            session, _ = quiet_session("ppo", _TINY, Path(directory))
            envs = session.make_envs(ppo.wrap)
            agent = ppo.Agent(4, 2)
            torch.nn.init.normal_(next(agent.actor[-1].parameters()))
            rollout = Rollout(32, 2, observation=((4,), np.float32), action=((), np.int64))
            rollout.observations[-1] = session.initial_observations(envs)
            logits = np.zeros((32, 2, 2), np.float32)
            ppo.collect(rollout, logits, NumpyMlp(agent.actor), envs, session, 0)
            session.close()
        observations = torch.from_numpy(rollout.observations[:-1])
        actions = torch.from_numpy(rollout.actions)
        with torch.no_grad():
            categorical: Any = torch.distributions.Categorical(logits=agent.actor(observations))
        expected = categorical.log_prob(actions)
        log_probs = categorical_log_prob(logits, rollout.actions)
        np.testing.assert_allclose(log_probs, expected.numpy(), rtol=1e-4, atol=1e-6)
        self.assertEqual(set(np.unique(rollout.actions)), {0, 1})

    def test_actions_are_sampled_by_their_probabilities(self) -> None:
        """Three actions with known logits have the right frequencies."""
        np.random.seed(5)
        probabilities = np.array([0.2, 0.5, 0.3], np.float32)
        samples = (np.log(probabilities) + gumbel_noise(20_000, 3)).argmax(axis=-1)
        np.testing.assert_allclose(np.bincount(samples) / 20_000, probabilities, atol=0.02)

    def test_truncation_does_not_lower_values(self) -> None:
        """Reward 1 forever has the value 1 / (1 - gamma) = 5, although truncated after 3 steps."""
        self.assertAlmostEqual(_value_of_waiting(small_environments.TRUNCATED), 5.0, delta=0.5)

    def test_termination_lowers_values(self) -> None:
        """In an episode that terminates after three steps, 1.8 or 1 is left."""
        self.assertLess(_value_of_waiting(small_environments.TERMINATED), 2.0)

    def test_learns_to_balance(self) -> None:
        """Random episodes of CartPole have 22 steps; after 20,000 steps several times as many."""
        args = ppo.Args(total_timesteps=20_480, learning_rate=1e-3)
        _, sink = train_to_checkpoint(ppo, args)
        returns = [episode.episode_return for _, episode in sink.finished]
        self.assertGreater(sum(returns[-20:]) / 20, 80)

    def test_resumes_exactly(self) -> None:
        """The curves equal those of an uninterrupted training."""
        assert_resumes_exactly(self, ppo, _TINY, 2 * _BATCH)

    def test_depends_only_on_seed(self) -> None:
        """Equal with the same seed, different with another."""
        assert_depends_only_on_seed(self, ppo, _TINY)

    def test_a_saved_policy_acts(self) -> None:
        """Greedy and sampled."""
        checkpoint, _ = train_to_checkpoint(ppo, _TINY)
        assert_acts(self, ppo, checkpoint, gym.make("CartPole-v1"))

    def test_starts_with_the_network_of_another_training(self) -> None:
        """A warm start with a learning rate of 0 keeps the weights."""
        with tempfile.TemporaryDirectory() as directory:
            first, second = Path(directory) / "first", Path(directory) / "second"
            train_learner(ppo, _TINY, first)
            args = ppo.Args(**{**vars(_TINY), "learning_rate": 0.0, "seed": 9})
            path = first / "checkpoints" / "last.pt"
            train_learner(ppo, args, second, warm_start=path)
            before, after = (
                torch.load(folder / "checkpoints" / "last.pt", weights_only=True)["policy"]
                for folder in (first, second)
            )
        for name, tensor in before.items():
            self.assertTrue(torch.equal(tensor, after[name]), name)

    def test_target_kl_ends_an_update(self) -> None:
        """With a target that every step exceeds, each update has one epoch."""
        self.assertEqual(_optimizer_steps(target_kl=-1.0), 4 * 4)
        self.assertEqual(_optimizer_steps(target_kl=None), 4 * 4 * 4)

    def test_steps_need_not_divide_into_minibatches(self) -> None:
        """27 steps in 4 minibatches: all are used."""
        self.assertEqual(_optimizer_steps(num_envs=3, num_steps=9, total_timesteps=27), 4 * 4)

    def test_every_combination_of_loss_flags(self) -> None:
        """It also learns without normalized advantages and without clipped values."""
        args = ppo.Args(**{**vars(_TINY), "norm_adv": False, "clip_vloss": False})
        _, sink = train_to_checkpoint(ppo, args)
        self.assertEqual(len(sink.curves["losses/approx_kl"]), 4)

    def test_other_action_spaces_are_rejected(self) -> None:
        """With an alternative."""
        with self.assertRaisesRegex(WorkerError, "discrete actions"):
            train_to_checkpoint(ppo, ppo.Args(env_id="Pendulum-v1"))


def _optimizer_steps(**changes: Any) -> int:
    checkpoint, _ = train_to_checkpoint(ppo, ppo.Args(**{**vars(_TINY), **changes}))
    return int(checkpoint.training["optimizer"]["steps"])


if __name__ == "__main__":
    unittest.main()
