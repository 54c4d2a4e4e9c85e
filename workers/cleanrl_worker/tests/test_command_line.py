"""The worker's command line, where neither torch nor gymnasium is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
CONFIG = {"algo": "ppo", "env_id": "CartPole-v1", "seed": 3, "total_timesteps": 1000}


def worker(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run with the standard library, the SDK and the worker only."""
    folders = [ROOT / "worker_sdk" / "src", ROOT / "workers" / "cleanrl_worker" / "src"]
    script = (
        "import sys, runpy; sys.path[:0] = sys.argv.pop(1).split(':');"
        "sys.argv[0] = 'cli'; runpy.run_module('cleanrl_worker.cli', run_name='__main__')"
    )
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, ":".join(map(str, folders)), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"]},
    )


def describe(*arguments: str) -> dict[str, Any]:
    done = worker("--describe", *arguments)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


class DescribeTest(unittest.TestCase):
    def test_every_learner_is_an_algorithm_with_its_parameters(self) -> None:
        """With label, groups, help and search ranges, before anything is installed."""
        algorithms = {algorithm["id"]: algorithm for algorithm in describe()["algorithms"]}
        folder = ROOT / "workers" / "cleanrl_worker" / "src" / "cleanrl_worker" / "learners"
        learners = {path.stem for path in folder.glob("*.py")} - {"__init__"}

        self.assertEqual(set(algorithms), learners)
        for name, algorithm in algorithms.items():
            with self.subTest(name):
                self.assertTrue(algorithm["label"])
                self.assertTrue(algorithm["doc"].endswith("."))
                self.assertTrue(algorithm["page"].startswith("# "))
                self.assertIn(algorithm["action_spaces"], (["discrete"], ["box"]))
                for parameter in algorithm["parameters"]:
                    self.assertTrue(parameter["help"], parameter["name"])
                    self.assertTrue(parameter["group"], parameter["name"])
                for parameter in algorithm["parameters"]:
                    if parameter["search"]:
                        low, high = parameter["search"]
                        self.assertTrue(low <= parameter["default"] <= high, parameter["name"])
                searched = {p["name"] for p in algorithm["parameters"] if p["search"]}
                self.assertIn("gamma", searched)

    def test_run_fields_are_not_parameters(self) -> None:
        """The seed, the environment and the artifacts have their own fields."""
        for algorithm in describe()["algorithms"]:
            names = {parameter["name"] for parameter in algorithm["parameters"]}
            self.assertFalse(names & {"seed", "env_id", "track", "capture_video", "exp_name"})

    def test_a_user_script_is_described_by_its_flags(self) -> None:
        """A form can be shown for it, too."""
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "my_ppo.py"
            script.write_text(
                "from dataclasses import dataclass\nimport tyro\n\n@dataclass\nclass Args:\n"
                '    clip_coef: float = 0.5\n    """clipping coefficient"""\n\n'
                "args = tyro.cli(Args)\n"
            )
            (algorithm,) = describe("--script", str(script))["algorithms"]

        self.assertEqual(algorithm["id"], "my_ppo")
        (parameter,) = [p for p in algorithm["parameters"] if p["name"] == "clip_coef"]
        self.assertEqual((parameter["type"], parameter["default"]), ("float", 0.5))
        self.assertEqual(parameter["help"], "clipping coefficient")


class DryRunTest(unittest.TestCase):
    def dry_run(self, **config: Any) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "config.json"
            path.write_text(json.dumps({**CONFIG, **config}))
            return worker("--config", str(path), "--dry-run", "--emit-summary")

    def test_a_dry_run_reports_the_module(self) -> None:
        """Every value is resolved, and nothing is started."""
        done = self.dry_run(params={"learning_rate": 0.001})

        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual(summary["module"], "cleanrl_worker.learners.ppo")
        self.assertEqual(summary["arguments"]["learning_rate"], 0.001)
        self.assertEqual(summary["arguments"]["num_envs"], 4)

    def test_a_wrong_value_is_named(self) -> None:
        """The error has the field and its valid range."""
        done = self.dry_run(params={"gamma": 1.5})

        self.assertEqual(done.returncode, 2)
        self.assertIn("params.gamma", done.stderr)
        self.assertIn("0.0 to 1.0", done.stderr)

    def test_an_unknown_algorithm_is_named(self) -> None:
        """Before anything is started."""
        done = self.dry_run(algo="pppo")

        self.assertEqual(done.returncode, 2)
        self.assertIn("pppo", done.stderr)


if __name__ == "__main__":
    unittest.main()
