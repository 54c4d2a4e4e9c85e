"""SAC for continuous actions: values at ends, learning, resuming, and entropy."""

from __future__ import annotations

import math
import unittest
from typing import Any, ClassVar

import torch
from off_policy_checks import OffPolicyChecks
from torch.distributions import Normal, TanhTransform, TransformedDistribution

from cleanrl_worker.common.continuous_actions import ActionBounds
from cleanrl_worker.learners import sac_continuous_action


class SacTest(OffPolicyChecks, unittest.TestCase):
    learner = sac_continuous_action
    algo = "sac_continuous_action"
    quick: ClassVar[dict[str, Any]] = {
        "q_lr": 3e-3,
        "policy_lr": 3e-3,
        "autotune": False,
        "alpha": 0.0,
    }

    def test_entropy_is_tuned_towards_its_target(self) -> None:
        """For a policy above the target entropy, alpha decreases."""
        _, sink = self.train("OffPolicyPointing-v0", 501, learning_starts=100, batch_size=64)
        alphas = [value for _, value in sink.curves["losses/alpha"]]
        self.assertLess(alphas[-1], alphas[0])
        self.assertLess(alphas[0], 1.0)

    def test_a_warm_start_restores_alpha(self) -> None:
        """Tuning of alpha continues, and a fixed alpha is used unchanged."""
        saved, _ = self.train("OffPolicyPointing-v0", 200, learning_starts=100, batch_size=16)
        tuned = math.exp(float(saved.training["log_alpha"]))
        self.assertLess(tuned, 0.99)
        path = self.folder / "run" / "checkpoints" / "last.pt"
        flags: dict[str, Any] = {
            "learning_starts": 10,
            "batch_size": 16,
            "q_lr": 1e-12,
            "alpha": 0.3,
        }
        for autotune, expected in ((True, tuned), (False, 0.3)):
            _, sink = self.train(
                "OffPolicyPointing-v0",
                101,
                folder=f"warm-{autotune}",
                options={"warm_start": path},
                autotune=autotune,
                **flags,
            )
            self.assertAlmostEqual(sink.curves["losses/alpha"][0][1], expected, places=5)

    def test_log_probs_include_the_tanh_correction(self) -> None:
        """Checked against torch's own distributions, in bounds of width 2."""
        agent = sac_continuous_action.Agent(3, ActionBounds([-1.0, -1.0], [1.0, 1.0]))
        observations = torch.randn(64, 3)
        with torch.no_grad():
            actions, log_probs = agent(observations)
            mean, outputs = agent.network(observations).chunk(2, dim=1)
        std = torch.exp(-5.0 + 3.5 * (torch.tanh(outputs) + 1))
        squashed = TransformedDistribution(Normal(mean, std), [TanhTransform()])
        is_inner = (actions.abs() < 0.99).all(dim=1)
        expected = squashed.log_prob(actions).sum(dim=1)
        self.assertGreater(int(is_inner.sum()), 10)
        torch.testing.assert_close(log_probs[is_inner], expected[is_inner], rtol=1e-3, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
