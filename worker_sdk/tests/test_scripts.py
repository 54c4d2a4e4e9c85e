"""Runs of third-party scripts, and the default step detail of a run."""

from __future__ import annotations

import contextlib
import io
import json
import unittest
from typing import Any, Callable

from mosaic_worker import Algorithm, Descriptor, Parameter, Run, main
from mosaic_worker.errors import ConfigError, WorkerError
from mosaic_worker.run_config import Assignment, Overrides, resolve

DESCRIPTOR = Descriptor(
    "tiny",
    "Tiny",
    "1.0",
    (Algorithm("dqn", "DQN"), Algorithm("ppo", "PPO")),
    modes=("train", "play", "evaluate", "sweep"),
)
SCRIPT = Algorithm(
    "own_dqn", "own_dqn", parameters=(Parameter("layers", "int", 2), Parameter("rate", "float", 1))
)


def describe_script(script: str) -> Algorithm:
    if script != "/own_dqn.py":
        raise WorkerError(f"There is no {script}.", remedy="Correct the path.")
    return SCRIPT


def no_work(_: Run) -> None:
    raise AssertionError("work was called")


def call(*flags: str, hook: Callable[[str], Algorithm] | None = describe_script) -> tuple[int, str]:
    """Return the exit code and the output."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = main(DESCRIPTOR, no_work, flags, describe_script=hook)
    return code, output.getvalue()


class ScriptTest(unittest.TestCase):
    def resolve(self, **fields: Any) -> Any:
        return resolve({"script": "/own_dqn.py", **fields}, DESCRIPTOR, None, describe_script)

    def test_a_script_is_described_as_the_only_algorithm(self) -> None:
        """It has the script's parameters, and the descriptor declares support for scripts."""
        code, output = call("--describe", "--script", "/own_dqn.py")
        described = json.loads(output)
        self.assertEqual(code, 0)
        self.assertEqual([algo["id"] for algo in described["algorithms"]], ["own_dqn"])
        self.assertIs(described["supports"]["scripts"], True)
        self.assertEqual(len(json.loads(call("--describe")[1])["algorithms"]), 2)

    def test_a_script_that_cannot_be_described_is_an_error(self) -> None:
        """The error has a remedy; a worker without support for scripts has its own error."""
        code, output = call("--describe", "--script", "/none.py")
        self.assertEqual(code, 2)
        self.assertIn("There is no /none.py. Correct the path.", output)
        code, output = call("--describe", "--script", "/own_dqn.py", hook=None)
        self.assertEqual(code, 2)
        self.assertIn("tiny does not run scripts", output)

    def test_only_set_parameters_are_passed_on(self) -> None:
        """The script uses its own defaults, and the config needs no algorithm."""
        config = self.resolve(params={"layers": 3})
        self.assertEqual(config.params, {"layers": 3})
        self.assertEqual((config.algo, config.script), ("own_dqn", "/own_dqn.py"))
        assignment = Assignment("rate", "0.5", "--set rate")
        overrides = Overrides({"script": "/own_dqn.py"}, [assignment])
        config = resolve({}, DESCRIPTOR, overrides, describe_script)
        self.assertEqual(config.params, {"rate": 0.5})
        self.assertIsNone(resolve({"algo": "ppo"}, DESCRIPTOR).script)

    def test_unknown_parameters_of_a_script_are_rejected(self) -> None:
        """The error has a suggestion and an alternative."""
        with self.assertRaisesRegex(ConfigError, "params.layer:.*layers.*extra_args"):
            self.resolve(params={"layer": 3})
        with self.assertRaisesRegex(ConfigError, "params.layers: must be an integer, got 'many'"):
            self.resolve(params={"layers": "many"})
        with self.assertRaisesRegex(ConfigError, "script: There is no /none.py"):
            self.resolve(script="/none.py")
        with self.assertRaisesRegex(ConfigError, "script: tiny does not run scripts"):
            resolve({"script": "/own_dqn.py"}, DESCRIPTOR)
        odd = Algorithm("odd", "odd", parameters=(Parameter("a", "int", "x"),))
        with self.assertRaisesRegex(ConfigError, "script: parameter a: default"):
            resolve({"script": "/odd.py"}, DESCRIPTOR, None, lambda _: odd)


class StepDetailTest(unittest.TestCase):
    def detail(self, lane: str, **fields: Any) -> str:
        config = resolve({"algo": "dqn", **fields}, DESCRIPTOR._replace(lane=lane))
        return config.step_detail

    def test_the_default_detail_depends_on_the_lane(self) -> None:
        """Only training in the lane `analytics` records no steps."""
        self.assertEqual(self.detail("analytics"), "off")
        self.assertEqual(self.detail("analytics", telemetry={"steps": "auto"}), "off")
        for mode in ("play", "evaluate"):
            self.assertEqual(self.detail("analytics", mode=mode), "all")
        for lane in ("telemetry", "hybrid"):
            self.assertEqual(self.detail(lane, telemetry={"frames": True}), "all")

    def test_a_requested_detail_is_used(self) -> None:
        """It applies to every lane; an unknown detail is rejected."""
        self.assertEqual(self.detail("analytics", telemetry={"steps": "columns"}), "columns")
        self.assertEqual(self.detail("telemetry", telemetry={"steps": "off"}), "off")
        with self.assertRaisesRegex(ConfigError, "telemetry.steps"):
            self.detail("telemetry", telemetry={"steps": "some"})


if __name__ == "__main__":
    unittest.main()
