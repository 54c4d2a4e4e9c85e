"""Shared tests of SAC, TD3 and DDPG, and environments with known values."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from quiet_session import RecordingSink, quiet_session

from cleanrl_worker.session.checkpoint import TrainingCheckpoint, read_checkpoint
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from types import ModuleType
    from unittest import TestCase

    Base = TestCase
else:
    Base = object


class Steady(gym.Env[Any, Any]):
    """Reward 1 for any action, and a constant observation."""

    observation_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, ends_after: int = 0) -> None:
        """0: it never terminates."""
        self._ends_after = ends_after
        self._count = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._count = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ARG002
        self._count += 1
        return np.zeros(1, np.float32), 1.0, self._count == self._ends_after, False, {}


class Unbounded(Steady):
    """The action space is unbounded."""

    action_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)


class Pointing(gym.Env[Any, Any]):
    """The best action is the observation, in an asymmetric box; the reward is the closeness."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.Box(
        np.array([-1.0, -0.1], np.float32), np.array([3.0, 0.7], np.float32), dtype=np.float32
    )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        low, high = self.action_space.low, self.action_space.high
        is_inside = bool(np.all(action >= low) and np.all(action <= high))
        assert is_inside, f"{action} is not an action"
        scaled = (action - low) / (high - low) * 2 - 1
        reward = 1 - float(np.square(scaled - self._target).sum())
        return self._observe(), reward, False, False, {}

    def _observe(self) -> Any:
        self._target = self.np_random.uniform(-0.8, 0.8, 2).astype(np.float32)
        return self._target


ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "Truncated": {"entry_point": Steady, "max_episode_steps": 5},
    "Terminated": {"entry_point": Steady, "kwargs": {"ends_after": 5}},
    "Unbounded": {"entry_point": Unbounded},
    "Pointing": {"entry_point": Pointing, "max_episode_steps": 10},
}
for name, arguments in ENVIRONMENTS.items():
    gym.register(f"OffPolicy{name}-v0", **arguments)

SMALL: dict[str, Any] = {"learning_starts": 60, "batch_size": 16, "buffer_size": 150}


class OffPolicyChecks(Base):
    """Mixed into a test case that sets the learner and its quick parameters."""

    learner: ModuleType
    algo: str
    quick: ClassVar[dict[str, Any]]
    """Flags with which values converge within some hundred updates."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def train(
        self,
        env_id: str,
        total: int,
        *,
        folder: str = "run",
        stop_at_step: int | None = None,
        options: dict[str, Any] | None = None,
        **flags: Any,
    ) -> tuple[TrainingCheckpoint, RecordingSink]:
        """Train to the end, or until a step was logged; returns the last checkpoint."""
        args = self.learner.Args(env_id=env_id, total_timesteps=total, **flags)
        directory = self.folder / folder
        session, sink = quiet_session(
            self.algo, args, directory, stop_at_step=stop_at_step, **(options or {})
        )
        try:
            self.learner.train(args, session)
        finally:
            session.close()
        return read_checkpoint(directory / "checkpoints" / "last.pt"), sink

    def final_value(self, env_id: str) -> float:
        """Return the last logged value of a training with a discount of 0.8."""
        flags = {**self.quick, "gamma": 0.8, "tau": 0.1, "learning_starts": 50, "batch_size": 16}
        _, sink = self.train(env_id, 501, **flags)
        return sink.curves["losses/qf1_values"][-1][1]

    def test_truncation_does_not_reduce_values(self) -> None:
        """Reward 1 forever has the value 1 / (1 - 0.8), although episodes have five steps."""
        self.assertAlmostEqual(self.final_value("OffPolicyTruncated-v0"), 5.0, delta=0.5)

    def test_termination_reduces_values(self) -> None:
        """One step in five has no next value: 1 / (1 - 0.8 * 4/5)."""
        self.assertAlmostEqual(self.final_value("OffPolicyTerminated-v0"), 2.78, delta=0.5)

    def test_it_learns_and_a_warm_start_keeps_the_policy(self) -> None:
        """It gets close to the best return of 10; a warm start takes no random actions."""
        flags = {**self.quick, "gamma": 0.5, "tau": 0.05, "learning_starts": 100, "batch_size": 32}
        saved, _ = self.train("OffPolicyPointing-v0", 1_000, **flags)
        self.assertGreater(self.mean_return(saved), 9.0)
        last = self.folder / "run" / "checkpoints" / "last.pt"
        _, sink = self.train(
            "OffPolicyPointing-v0", 40, folder="warm", options={"warm_start": last}, **flags
        )
        returns = [episode.episode_return for _, episode in sink.finished]
        self.assertGreater(np.mean(returns), 7.0)

    def test_a_policy_acts_within_bounds(self) -> None:
        """With the environment's shape and dtype, with and without noise, in asymmetric bounds."""
        saved, _ = self.train("OffPolicyPointing-v0", 20)
        space = Pointing.action_space
        for sampled in (False, True):
            policy = self.learner.load_policy(saved, sampled=sampled)
            for scale in (1.0, 1_000.0):
                action = policy.act(np.array([scale, -scale]))
                self.assertEqual(action.dtype, np.float32)
                self.assertTrue(space.contains(action), action)

    def test_without_noise_a_policy_is_deterministic(self) -> None:
        """Equal observations give equal actions, unless actions are sampled."""
        saved, _ = self.train("OffPolicyPointing-v0", 20)
        observation = np.array([0.3, -0.3], np.float32)
        for sampled in (False, True):
            policy = self.learner.load_policy(saved, sampled=sampled)
            self.assertEqual(
                np.array_equal(policy.act(observation), policy.act(observation)), not sampled
            )

    def test_the_same_seed_gives_the_same_training(self) -> None:
        """The policies are identical; with another seed they differ."""
        first, again, other = (
            self.train("Pendulum-v1", 150, folder=f"run-{index}", seed=seed, **SMALL)[0]
            for index, seed in enumerate((3, 3, 4))
        )
        self.assert_same(first.policy, again.policy)
        with self.assertRaises(AssertionError):
            self.assert_same(first.policy, other.policy)

    def test_a_resumed_training_equals_an_uninterrupted_one(self) -> None:
        """Networks, optimizers, buffer, noise and environments are restored exactly."""
        flags = {**SMALL, "num_envs": 2, "checkpoint_every": 110}
        full, logged = self.train("Pendulum-v1", 240, folder="full", **flags)
        middle = self.folder / "full" / "checkpoints" / "step-110.pt"
        resumed, logged_later = self.train(
            "Pendulum-v1", 240, folder="resumed", options={"resume": middle}, **flags
        )
        self.assert_same(full.policy, resumed.policy)
        self.assert_same(full.training, resumed.training)
        for name, curve in logged.curves.items():
            if name != "charts/SPS":
                later = [point for point in curve if point[0] > 110]
                self.assertEqual(logged_later.curves.get(name, []), later)

    def test_a_buffer_that_is_too_large_is_refilled(self) -> None:
        """The resumed training logs it, and learns again once it has enough steps."""
        flags = {**SMALL, "checkpoint_buffer_mb": 0}
        saved, _ = self.train("Pendulum-v1", 100, **flags)
        self.assertNotIn("buffer", saved.training)
        last = self.folder / "run" / "checkpoints" / "last.pt"
        resumed, sink = self.train(
            "Pendulum-v1", 140, folder="resumed", options={"resume": last}, **flags
        )
        self.assertIn("replay buffer", sink.messages[-1][1])
        self.assert_same(saved.policy, resumed.policy)  # 40 steps are not yet enough

    def test_unbounded_actions_are_rejected(self) -> None:
        """With an alternative."""
        with self.assertRaisesRegex(WorkerError, "infinite bounds"):
            self.train("OffPolicyUnbounded-v0", 10)

    def mean_return(self, saved: TrainingCheckpoint) -> float:
        """Return the mean return of episodes without noise."""
        env = gym.make("OffPolicyPointing-v0")
        policy = self.learner.load_policy(saved)
        total = 0.0
        for seed in range(10):
            observation, _ = env.reset(seed=seed)
            truncated = False
            while not truncated:
                observation, reward, _, truncated, _ = env.step(policy.act(observation))
                total += float(reward)
        env.close()
        return total / 10

    def assert_same(self, first: Any, second: Any) -> None:
        """Assert that tensors at any depth are identical."""
        if isinstance(first, torch.Tensor):
            self.assertTrue(torch.equal(first, second))
        elif isinstance(first, dict):
            self.assertEqual(first.keys(), second.keys())
            for key, value in first.items():
                self.assert_same(value, second[key])
        elif isinstance(first, list):
            self.assertEqual(len(first), len(second))
            for one, other in zip(first, second, strict=True):
                self.assert_same(one, other)
        else:
            self.assertEqual(first, second)
