"""TD3: values at ends, learning, resuming, and target policy smoothing."""

from __future__ import annotations

import unittest
from typing import Any, ClassVar

from off_policy_checks import OffPolicyChecks

from cleanrl_worker.learners import td3_continuous_action


class Td3Test(OffPolicyChecks, unittest.TestCase):
    learner = td3_continuous_action
    algo = "td3_continuous_action"
    quick: ClassVar[dict[str, Any]] = {"learning_rate": 3e-3}

    def test_both_critics_are_logged(self) -> None:
        """Under the tags of CleanRL's script."""
        _, sink = self.train("OffPolicyTruncated-v0", 120, learning_starts=50, batch_size=16)
        logged = {name for name in sink.curves if name.startswith("losses/")}
        critics = {f"losses/qf{number}_{name}" for number in "12" for name in ("values", "loss")}
        self.assertEqual(logged, critics | {"losses/qf_loss", "losses/actor_loss"})


if __name__ == "__main__":
    unittest.main()
