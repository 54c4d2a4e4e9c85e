"""Advantages computed by hand, and bootstrapping at time limits."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np

from cleanrl_worker.common.rollout import Rollout, compute_gae
from cleanrl_worker.common.update_metrics import explained_variance

_GAMMA = 0.9


def _column(*numbers: float) -> Any:
    return np.array(numbers, dtype=np.float32)[:, None]


class Advantages(unittest.TestCase):
    def test_zero_values_give_discounted_rewards(self) -> None:
        """With lambda 1 and values of 0 an advantage is the return."""
        dones = np.array([[False], [False], [True]])
        advantages = compute_gae(
            _column(1, 2, 4), _column(0, 0, 0, 0), dones, gamma=0.5, gae_lambda=1.0
        )
        np.testing.assert_allclose(advantages, _column(1 + 1 + 1, 2 + 2, 4))

    def test_done_stops_bootstrapping(self) -> None:
        """Neither the value nor the rewards of the next episode count."""
        dones = np.array([[True], [False]])
        advantages = compute_gae(
            _column(1, 100), _column(0, 50, 1000), dones, gamma=_GAMMA, gae_lambda=0.95
        )
        self.assertAlmostEqual(float(advantages[0, 0]), 1.0)

    def test_lambda_zero_gives_one_step_td_errors(self) -> None:
        """Reward plus discounted next value minus value."""
        dones = np.zeros((2, 1), dtype=np.bool_)
        advantages = compute_gae(
            _column(1, 2), _column(10, 20, 30), dones, gamma=_GAMMA, gae_lambda=0.0
        )
        np.testing.assert_allclose(advantages, _column(1 + 18 - 10, 2 + 27 - 20), rtol=1e-6)

    def test_environments_do_not_mix(self) -> None:
        """Each column belongs to one environment."""
        rng = np.random.default_rng(1)
        rewards, values = rng.normal(size=(5, 3)), rng.normal(size=(6, 3))
        dones = rng.random((5, 3)) < 0.3
        together = compute_gae(rewards, values, dones, gamma=_GAMMA, gae_lambda=0.8)
        for env in range(3):
            only = slice(env, env + 1)
            alone = compute_gae(
                rewards[:, only], values[:, only], dones[:, only], gamma=_GAMMA, gae_lambda=0.8
            )
            np.testing.assert_allclose(together[:, only], alone)

    def test_explained_variance(self) -> None:
        """1 for values that predict the returns, 0 for constant values."""
        returns = np.array([1.0, 2.0, 3.0])
        self.assertEqual(explained_variance(returns, returns), 1.0)
        self.assertEqual(explained_variance(np.zeros(3), returns), 0.0)
        self.assertEqual(explained_variance(np.zeros(3), np.ones(3)), 0.0)


class TimeLimits(unittest.TestCase):
    """Reward 1 forever has the value 1 / (1 - gamma), wherever a time limit truncates."""

    def _compute_gae(self, *, terminated: bool) -> Any:
        value = 1.0 / (1.0 - _GAMMA)
        rollout = Rollout(4, 2, observation=((1,), np.float32), action=((), np.int64))
        no_end = np.zeros(2, dtype=np.bool_)
        for step in range(4):
            first = np.array([step == 1, False])
            last = np.array([np.array([7.0]), None], dtype=object)
            infos = {"final_obs": last} if step == 1 else {}
            terminations, truncations = (first, no_end) if terminated else (no_end, first)
            rollout.add(step, np.ones(2), terminations, truncations, infos)
        batches: list[Any] = []

        def get_value(rows: Any) -> Any:
            batches.append(rows)
            return np.full(len(rows), value, dtype=np.float32)

        advantages, returns, _ = rollout.compute_gae(get_value, gamma=_GAMMA, gae_lambda=0.95)
        return advantages, returns, batches

    def test_a_truncated_episode_is_bootstrapped(self) -> None:
        """It has the same value as an unlimited one."""
        advantages, returns, batches = self._compute_gae(terminated=False)
        np.testing.assert_allclose(returns, 1.0 / (1.0 - _GAMMA), rtol=1e-5)
        np.testing.assert_allclose(advantages, 0.0, atol=1e-4)
        np.testing.assert_array_equal(batches[-1], [[7.0]])

    def test_a_terminated_episode_is_not_bootstrapped(self) -> None:
        """It ends with its last reward."""
        _, returns, batches = self._compute_gae(terminated=True)
        self.assertAlmostEqual(float(returns[1, 0]), 1.0, places=5)
        np.testing.assert_allclose(returns[:, 1], 1.0 / (1.0 - _GAMMA), rtol=1e-5)
        self.assertEqual(len(batches), 1)


if __name__ == "__main__":
    unittest.main()
