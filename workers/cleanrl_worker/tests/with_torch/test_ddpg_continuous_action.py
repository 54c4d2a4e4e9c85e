"""DDPG: values at ends, learning and resuming."""

from __future__ import annotations

import unittest
from typing import Any, ClassVar

from off_policy_checks import OffPolicyChecks

from cleanrl_worker.learners import ddpg_continuous_action


class DdpgTest(OffPolicyChecks, unittest.TestCase):
    learner = ddpg_continuous_action
    algo = "ddpg_continuous_action"
    quick: ClassVar[dict[str, Any]] = {"learning_rate": 3e-3}

    def test_one_critic_is_logged(self) -> None:
        """Under the tags of CleanRL's script."""
        _, sink = self.train("OffPolicyTruncated-v0", 120, learning_starts=50, batch_size=16)
        logged = {name for name in sink.curves if name.startswith("losses/")}
        self.assertEqual(logged, {"losses/qf1_values", "losses/qf1_loss", "losses/actor_loss"})


if __name__ == "__main__":
    unittest.main()
