"""A dry run of user plans reports errors that would end the run."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.run_config import resolve
from spade_bdi_rl_worker.descriptor import describe
from spade_bdi_rl_worker.dry_run import check_run


class PlanDryRunTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "own.asl")

    def check_run(self, plans: str, **params: Any) -> None:
        self.file.write_text(plans)
        config = {
            "algo": "q_learning",
            "env_id": "FrozenLake-v1",
            "params": {"asl": str(self.file), **params},
        }
        check_run(resolve(config, describe()))

    def error_of(self, plans: str, **params: Any) -> WorkerError:
        with self.assertRaises(WorkerError) as raised:
            self.check_run(plans, **params)
        self.assertIsNone(raised.exception.__cause__)
        return raised.exception

    def test_bundled_plans(self) -> None:
        """By name, for each team."""
        runs: list[tuple[str, dict[str, Any]]] = [
            ("learner", {}),
            ("learner", {"stop_when_reached": True, "evaluate_every": 100}),
            ("learner", {"team": "coach"}),
            ("pair", {"team": "pair"}),
        ]
        for name, params in runs:
            with self.subTest(name, **params):
                self.check_run("", asl=name, **params)

    def test_broken_file(self) -> None:
        error = self.error_of("+!train(N)\n   <- .learn(N;")

        self.assertIn("own.asl, line 2", error.message)

    def test_unknown_action(self) -> None:
        error = self.error_of("+!train(N)\n   <- .lern(5).")

        self.assertIn("line 2: no such action '.lern/1'", error.message)

    def test_mistyped_condition(self) -> None:
        """The first goal is added, but nothing is learned."""
        error = self.error_of("\n+!train(N) : bach(B) <- .learn(B); !!train(N).")

        self.assertIn("!train(20000)", error.message)
        self.assertIn("own.asl, line 2 (+!train/1): `bach(B)` does not hold", error.message)

    def test_no_plan_for_the_goal(self) -> None:
        """The goal depends on the run."""
        error = self.error_of("+!train(N) <- .learn(N).", stop_when_reached=True)

        self.assertIn("`+!reach_goal`", error.remedy)

    def test_goals_of_a_team_are_not_checked(self) -> None:
        """They come from a teammate later."""
        self.check_run("+!train(N) : lesson(B) <- .learn(B).", team="coach")


if __name__ == "__main__":
    unittest.main()
