"""PPO and RPO for continuous actions: computations, normalization, bounds, exact resuming."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from learner_checks import (
    assert_depends_only_on_seed,
    assert_resumes_exactly,
    train_learner,
    train_to_checkpoint,
)
from quiet_session import quiet_session

from cleanrl_worker.common.distributions import normal_entropy, normal_log_prob
from cleanrl_worker.common.normalizer import Normalizer
from cleanrl_worker.common.numpy_mlp import NumpyMlp
from cleanrl_worker.common.rollout import Rollout
from cleanrl_worker.learners import ppo_continuous_action, rpo_continuous_action
from cleanrl_worker.session.checkpoint import read_checkpoint, write_checkpoint
from mosaic_worker.errors import WorkerError

_LEARNERS: tuple[Any, ...] = (ppo_continuous_action, rpo_continuous_action)
_BATCH = 64
_SMALL: dict[str, Any] = {
    "env_id": "Pendulum-v1",
    "num_envs": 2,
    "num_steps": 32,
    "total_timesteps": 4 * _BATCH,
    "num_minibatches": 4,
    "update_epochs": 2,
}
_POINTING = "PpoPointing-v0"


class Pointing(gym.Env[Any, Any]):
    """The best action is the observation, in an asymmetric box; rejects invalid actions."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float64)
    action_space = spaces.Box(
        np.array([[-1.0], [-0.1]], np.float32), np.array([[3.0], [0.7]], np.float32)
    )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), f"{action} is not an action"
        squared_error = float(np.square(np.ravel(action) - self._target).sum())
        return self._observe(), 1.0 - squared_error, False, False, {}

    def _observe(self) -> Any:
        self._target = self.np_random.uniform([-1.0, -0.1], [1.0, 0.7])
        return self._target


class Continuous(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        gym.register(_POINTING, entry_point=f"{__name__}:Pointing", max_episode_steps=10)
        cls.addClassCleanup(gym.registry.pop, _POINTING)

    def test_log_probs_match_torch(self) -> None:
        """The first ratio of an update is 1: numpy and torch compute the same policy."""
        learner = ppo_continuous_action
        args = learner.Args(**_SMALL)
        with tempfile.TemporaryDirectory() as directory:
            session, _ = quiet_session("ppo_continuous_action", args, Path(directory))
            envs = session.make_envs(learner.wrap)
            agent = learner.Agent(3, *(np.array([bound]) for bound in (-2.0, 2.0)))
            torch.nn.init.constant_(agent.actor_logstd, -0.7)
            rollout = Rollout(32, 2, observation=((3,), np.float32), action=((1,), np.float32))
            normalizer = Normalizer(session, 2, (3,), 0.99)
            rollout.observations[-1] = normalizer.normalize_initial(
                session.initial_observations(envs)
            )
            actor = NumpyMlp(agent.actor_mean)
            logprobs = learner.collect(rollout, agent, actor, normalizer, envs, session, 0)
            session.close()
        with torch.no_grad():
            mean = agent.actor_mean(torch.from_numpy(rollout.observations[:-1]))
        normal: Any = torch.distributions.Normal(mean, agent.actor_logstd.detach().exp())
        actions = torch.from_numpy(rollout.actions)
        expected = normal.log_prob(actions).sum(-1)
        np.testing.assert_allclose(logprobs, expected.numpy(), rtol=1e-4, atol=1e-5)
        in_torch = normal_log_prob(actions.view(-1, 1), mean.view(-1, 1), agent.actor_logstd)
        torch.testing.assert_close(in_torch.detach().view(32, 2), expected)
        entropy = normal_entropy(agent.actor_logstd).detach()
        torch.testing.assert_close(entropy, normal.entropy()[0, 0].sum())

    def test_resumes_exactly(self) -> None:
        """Curves and network, with the normalization of observations and rewards."""
        for learner in _LEARNERS:
            with self.subTest(learner.__name__):
                assert_resumes_exactly(self, learner, learner.Args(**_SMALL), 2 * _BATCH)

    def test_discounted_returns_continue_with_their_episodes(self) -> None:
        """Rewards are normalized by running returns; dropped episodes have none."""
        args = ppo_continuous_action.Args(**{**_SMALL, "total_timesteps": 5 * _BATCH})
        with tempfile.TemporaryDirectory() as directory:
            train_learner(
                ppo_continuous_action, ppo_continuous_action.Args(**_SMALL), Path(directory)
            )
            path = Path(directory) / "checkpoints" / "last.pt"
            saved = read_checkpoint(path)
            returns = saved.training["rewards"]["returns"].numpy()
            self.assertTrue(returns.all())
            count = saved.normalization["observations"]["count"]
            for expected, new_episodes in ((returns, 0), (np.zeros(2), 2)):
                session, _ = quiet_session(
                    "ppo_continuous_action", args, Path(directory), resume=path
                )
                envs = session.make_envs(ppo_continuous_action.wrap)
                normalizer = Normalizer(session, 2, (3,), args.gamma)
                normalizer.normalize_initial(session.initial_observations(envs))
                session.close()
                np.testing.assert_array_equal(normalizer.rewards.returns, expected)
                self.assertAlmostEqual(normalizer.observations.rms.count - count, new_episodes)
                # In the second pass the saved observations differ: episodes cannot be restored.
                for position in saved.environments:
                    position["observation"] = position["observation"] + 1
                write_checkpoint(saved, path)

    def test_depends_only_on_seed(self) -> None:
        """Equal with the same seed, different with another."""
        for learner in _LEARNERS:
            with self.subTest(learner.__name__):
                assert_depends_only_on_seed(self, learner, learner.Args(**_SMALL))

    def test_learns_to_point(self) -> None:
        """The best return is 10; random actions get less than -10."""
        args = ppo_continuous_action.Args(
            env_id=_POINTING,
            num_envs=4,
            num_steps=64,
            total_timesteps=12_800,
            num_minibatches=8,
            update_epochs=4,
            learning_rate=3e-3,
            gamma=0.5,
        )
        checkpoint, _ = train_to_checkpoint(ppo_continuous_action, args)
        policy = ppo_continuous_action.load_policy(checkpoint)
        env = gym.make(_POINTING)
        total = 0.0
        observation, _ = env.reset(seed=1)
        for _ in range(10):
            observation, reward, *_ = env.step(policy.act(observation))
            total += float(reward)
        self.assertGreater(total, 8.5)

    def test_a_policy_acts_within_bounds(self) -> None:
        """With the environment's shape and dtype; sampled actions vary, others do not."""
        for learner in _LEARNERS:
            args = learner.Args(**{**_SMALL, "env_id": _POINTING})
            checkpoint, _ = train_to_checkpoint(learner, args)
            for sampled in (False, True):
                policy = learner.load_policy(checkpoint, sampled=sampled)
                actions = [policy.act(np.array([500.0, -500.0])) for _ in range(20)]
                for action in actions:
                    self.assertTrue(Pointing.action_space.contains(action), action)
                is_same = all(np.array_equal(actions[0], action) for action in actions)
                self.assertEqual(is_same, not sampled)

    def test_a_policy_normalizes_observations(self) -> None:
        """With the statistics of the checkpoint."""
        checkpoint, _ = train_to_checkpoint(
            ppo_continuous_action, ppo_continuous_action.Args(**_SMALL)
        )
        saved = checkpoint.normalization["observations"]
        self.assertGreater(saved["count"], 4 * _BATCH)
        agent = ppo_continuous_action.Agent(3, np.array([-2.0]), np.array([2.0]))
        agent.load_state_dict(checkpoint.policy)
        raw = np.array([0.5, -0.5, 3.0])
        scaled = (raw - saved["mean"].numpy()) / np.sqrt(saved["variance"].numpy())
        with torch.no_grad():
            expected = agent.actor_mean(torch.tensor(scaled, dtype=torch.float32)).numpy()
        action = ppo_continuous_action.load_policy(checkpoint).act(raw)
        np.testing.assert_allclose(action, expected, rtol=1e-4)

    def test_other_action_spaces_are_rejected(self) -> None:
        """With an alternative."""
        args = ppo_continuous_action.Args(env_id="CartPole-v1")
        with self.assertRaisesRegex(WorkerError, "box actions"):
            train_to_checkpoint(ppo_continuous_action, args)


if __name__ == "__main__":
    unittest.main()
