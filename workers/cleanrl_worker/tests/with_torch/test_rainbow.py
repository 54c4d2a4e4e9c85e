"""Rainbow: prioritized replay, n-step returns, time limits, and exact resuming."""

from __future__ import annotations

import dataclasses
import itertools
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

from cleanrl_worker.common.n_step import NStepReturns, NStepTransition
from cleanrl_worker.common.networks import NoisyLinear
from cleanrl_worker.common.prioritized_replay import PrioritizedReplay
from cleanrl_worker.learners import rainbow
from cleanrl_worker.session.checkpoint import read_checkpoint

UNREPEATABLE = "rainbow/Unrepeatable-v0"
QUICK = rainbow.Args(
    total_timesteps=400,
    n_atoms=11,
    buffer_size=150,
    learning_starts=100,
    train_frequency=4,
    target_network_frequency=70,
    batch_size=16,
)


class Unrepeatable(gym.Env[Any, Any]):
    """The observation is the number of the episode, which never repeats."""

    observation_space = gym.spaces.Box(0.0, 1_000.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)
    numbers = itertools.count()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._observation = np.array([next(self.numbers)], np.float32)
        return self._observation.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ARG002
        return self._observation.copy(), 1.0, False, False, {}


class NStepRewardsTest(unittest.TestCase):
    """Three steps, with a discount of 0.5."""

    def transitions(self, terminated: bool) -> list[NStepTransition]:
        steps = NStepReturns(3, 1, 0.5)
        completed: list[NStepTransition] = []
        for number in range(4):
            last = number == 3
            infos: dict[str, Any] = {}
            if last:
                infos = {"_final_obs": np.array([True]), "final_obs": [np.array([99.0])]}
            completed += steps.add(
                np.array([[float(number)]]),
                np.array([number]),
                np.array([8.0]),
                np.array([last and terminated]),
                np.array([[number + 1.0]]),
                infos,
            )
        return completed

    def test_last_transitions_are_shorter(self) -> None:
        """Every step starts one transition, and the last ones end at the final observation."""
        transitions = self.transitions(terminated=False)
        self.assertEqual([transition.action for transition in transitions], [0, 1, 2, 3])
        self.assertEqual([transition.reward for transition in transitions], [14.0, 14.0, 12.0, 8.0])
        self.assertEqual(
            [transition.discount for transition in transitions], [0.125, 0.125, 0.25, 0.5]
        )
        self.assertEqual(
            [float(transition.next_observation[0]) for transition in transitions], [3, 99, 99, 99]
        )

    def test_termination_sets_the_discount_to_zero(self) -> None:
        """Transitions to a terminal observation have no next value."""
        transitions = self.transitions(terminated=True)
        self.assertEqual(
            [transition.discount for transition in transitions], [0.125, 0.0, 0.0, 0.0]
        )

    def test_shorter_transitions_are_completed(self) -> None:
        """Transitions of a larger n_step are completed, too."""
        longer, shorter = NStepReturns(5, 1, 0.5), NStepReturns(2, 1, 0.5)
        row, zeros = np.zeros((1, 1)), np.zeros(1)
        for _ in range(4):
            self.assertEqual(list(longer.add(row, zeros, zeros, zeros, row, {})), [])
        shorter.load(longer.state())
        self.assertEqual(len(list(shorter.add(row, zeros, zeros, zeros, row, {}))), 4)
        self.assertEqual(len(list(shorter.add(row, zeros, zeros, zeros, row, {}))), 1)


class PrioritizedReplayTest(unittest.TestCase):
    """Five transitions with different errors."""

    def test_samples_by_priority(self) -> None:
        """With alpha 1 in proportion to the error; with beta 1 the weights compensate for it."""
        np.random.seed(1)
        space = gym.spaces.Box(0.0, 9.0, (1,), np.float32)
        replay = PrioritizedReplay(5, space, alpha=1.0, device="cpu")
        for number in range(7):
            replay.add(NStepTransition(np.array([number]), number, 0.0, 1.0, np.array([0.0])))
        errors = np.array([1.0, 2.0, 3.0, 0.0, 4.0])
        replay.update_priorities(np.arange(5), errors)
        batch = replay.sample(5_000, beta=1.0)
        counts = np.bincount(batch.indices, minlength=5)
        np.testing.assert_allclose(counts / 5_000, errors / 10, atol=0.005)
        # The two newest transitions have replaced the two oldest.
        stored = set(batch.observations[:, 0].int().tolist())
        self.assertEqual(stored, {5, 6, 2, 4})
        weights = np.array([float(batch.weights[batch.indices == index][0]) for index in (0, 1, 4)])
        np.testing.assert_allclose(weights, [1.0, 0.5, 0.25], rtol=1e-4)


class RainbowTest(unittest.TestCase):
    """On CartPole, and on environments with known values."""

    def setUp(self) -> None:
        small_environments.register()

    def test_truncation_is_bootstrapped(self) -> None:
        """Waiting forever has the value 1 / (1 - 0.9), although truncated after 3 steps."""
        args = rainbow.Args(
            env_id=small_environments.TRUNCATED,
            total_timesteps=1_200,
            learning_rate=3e-3,
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
        checkpoint, _ = train_to_checkpoint(rainbow, args)
        agent = rainbow.Agent(2, 2, n_atoms=21, v_min=0.0, v_max=20.0)
        agent.load_state_dict(checkpoint.policy)
        with torch.no_grad():
            values = agent(torch.from_numpy(small_environments.WAITING[None])).exp() @ agent.atoms
        np.testing.assert_allclose(values, 10, atol=1.0)

    def test_noise_has_zero_mean(self) -> None:
        """Without noise a layer returns the mean of its noisy outputs."""
        torch.manual_seed(1)
        layer = NoisyLinear(8, 3)
        rows = torch.rand(1, 8)
        with torch.no_grad():
            mean = layer(rows)
            noisy = []
            for _ in range(4_000):
                layer.reset_noise()
                noisy.append(layer(rows))
        torch.testing.assert_close(torch.cat(noisy).mean(dim=0), mean[0], atol=0.03, rtol=0)
        self.assertGreater(float(torch.cat(noisy).std()), 0.05)

    def test_resumes_exactly(self) -> None:
        """From a checkpoint within an episode, with incomplete transitions."""
        for num_envs in (1, 2):
            with self.subTest(num_envs=num_envs):
                args = dataclasses.replace(QUICK, num_envs=num_envs)
                assert_resumes_exactly(self, rainbow, args, 250)

    def test_learning_waits_for_the_first_transition(self) -> None:
        """With learning_starts 0 it waits for the first n-step transition."""
        args = dataclasses.replace(QUICK, learning_starts=0, train_frequency=1, total_timesteps=120)
        checkpoint, sink = train_to_checkpoint(rainbow, args)
        self.assertIn("losses/td_loss", sink.curves)
        for name, tensor in checkpoint.policy.items():
            self.assertTrue(torch.isfinite(tensor).all(), name)

    def test_episodes_that_cannot_be_restored_are_dropped(self) -> None:
        """No transition leads from an old episode to one that starts on resume."""
        gym.register(UNREPEATABLE, entry_point=f"{__name__}:Unrepeatable", max_episode_steps=30)
        self.addCleanup(gym.registry.pop, UNREPEATABLE)
        args = dataclasses.replace(QUICK, env_id=UNREPEATABLE, total_timesteps=50, num_envs=2)
        with tempfile.TemporaryDirectory() as directory:
            first, again = Path(directory) / "first", Path(directory) / "again"
            train_learner(rainbow, args, first)
            longer = dataclasses.replace(args, total_timesteps=100)
            train_learner(rainbow, longer, again, resume=first / "checkpoints" / "last.pt")
            buffer = read_checkpoint(again / "checkpoints" / "last.pt").training["buffer"]
        self.assertGreater(len(set(buffer["observations"][:, 0].tolist())), 2)
        self.assertTrue(torch.equal(buffer["observations"], buffer["next_observations"]))

    def test_recommended_support_is_wide_enough(self) -> None:
        """In CliffWalking, a fall can be distinguished from a step."""
        recommended: Any = rainbow.RECOMMENDED["toy-text"]
        args = rainbow.Args(**recommended)
        states: Any = gym.make("CliffWalking-v1").unwrapped
        outcomes = [
            o for actions in states.P.values() for results in actions.values() for o in results
        ]
        rewards = [float(reward) for _, _, reward, _ in outcomes]
        self.assertLessEqual(args.v_min, min(rewards))
        self.assertGreaterEqual(args.v_max, 1.0)

    def test_depends_only_on_seed(self) -> None:
        """Training is reproducible."""
        assert_depends_only_on_seed(self, rainbow, QUICK)

    def test_policy_acts(self) -> None:
        """From a checkpoint alone."""
        checkpoint, _ = train_to_checkpoint(rainbow, QUICK)
        assert_acts(self, rainbow, checkpoint, gym.make("CartPole-v1"))


if __name__ == "__main__":
    unittest.main()
