"""--describe, --dry-run, --emit-summary, and flags that override the config."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from mosaic_worker import Algorithm, Descriptor, Environments, Parameter, Run, main
from mosaic_worker.errors import ConfigError
from mosaic_worker.run_config import (
    Assignment,
    Overrides,
    read_config,
    resolve,
    unknown_fields,
)

DESCRIPTOR = Descriptor(
    worker="tiny",
    label="Tiny",
    version="1.0",
    algorithms=(
        Algorithm(
            "dqn",
            "DQN",
            parameters=(
                Parameter(
                    "learning_rate",
                    "float",
                    0.001,
                    min=0.0,
                    max=1.0,
                    unit="1/step",
                    search=(0.0001, 0.01),
                    log=True,
                ),
                Parameter("layers", "int", 2, min=1),
                Parameter("dueling", "bool", False),
                Parameter("optimizer", "choice", "adam", choices=("adam", "sgd")),
                Parameter("note", "str", ""),
                Parameter("target", "float", None),
            ),
        ),
        Algorithm("random", "Random"),
    ),
    environments=Environments(ids=("FrozenLake-v1",)),
)

GOOD = {"algo": "dqn", "env_id": "FrozenLake-v1", "params": {"layers": 3}}


def no_work(_: Run) -> None:
    raise AssertionError("work was called")


class CommandLineTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.config = Path(folder.name) / "config.json"
        self.config.write_text(json.dumps(GOOD))

    def call(self, *flags: str) -> tuple[int, str, str]:
        """Return exit code, stdout and stderr of a call that does not start the work."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(DESCRIPTOR, no_work, flags)
            except SystemExit as exit_:
                code = int(exit_.code or 0)
        return code, out.getvalue(), err.getvalue()

    def arguments(self, *flags: str) -> dict[str, Any]:
        code, out, err = self.call(
            "--config", str(self.config), "--dry-run", "--emit-summary", *flags
        )
        self.assertEqual((code, err), (0, ""))
        arguments: dict[str, Any] = json.loads(out)["arguments"]
        return arguments

    def test_describe_prints_the_descriptor(self) -> None:
        """One JSON document with every field that forms need."""
        code, out, _ = self.call("--describe")
        described = json.loads(out)
        self.assertEqual(code, 0)
        self.assertEqual(
            described["algorithms"][0]["parameters"][0],
            {
                "name": "learning_rate",
                "type": "float",
                "default": 0.001,
                "min": 0.0,
                "max": 1.0,
                "choices": [],
                "unit": "1/step",
                "group": "",
                "help": "",
                "search": [0.0001, 0.01],
                "log": True,
                "label": "",
            },
        )
        self.assertEqual(described["environments"]["ids"], ["FrozenLake-v1"])
        self.assertFalse(described["supports"]["pause"])

    def test_flags_override_the_config(self) -> None:
        """Parameter flags, --set and flags of run fields; other values keep their defaults."""
        self.assertEqual(self.arguments()["layers"], 3)
        values = self.arguments(
            "--layers", "5", "--set", "learning_rate=0.5", "--dueling", "--seed", "9",
            "--total-timesteps", "77", "--optimizer", "sgd",
        )  # fmt: skip
        self.assertEqual(
            values,
            {
                "mode": "train",
                "algo": "dqn",
                "env_id": "FrozenLake-v1",
                "env_kwargs": {},
                "seed": 9,
                "total_timesteps": 77,
                "max_episodes": None,
                "learning_rate": 0.5,
                "layers": 5,
                "dueling": True,
                "optimizer": "sgd",
                "note": "",
                "target": None,
            },
        )
        self.assertIs(self.arguments("--dueling", "false")["dueling"], False)

    def test_the_summary_describes_the_run(self) -> None:
        """Worker, module, interpreter and argv, without the flags of the dry run."""
        _, out, _ = self.call("--config", str(self.config), "--dry-run", "--emit-summary")
        summary = json.loads(out)
        self.assertEqual(summary["worker"], "tiny")
        self.assertEqual(summary["python"], sys.executable)
        self.assertEqual(summary["argv"][0], sys.executable)
        self.assertEqual(summary["argv"][-2:], ["--config", str(self.config)])

    def test_a_dry_run_is_readable(self) -> None:
        """Without --emit-summary it prints the resolved values as text."""
        code, out, _ = self.call("--config", str(self.config), "--dry-run")
        self.assertEqual(code, 0)
        self.assertIn("layers = 3", out)

    def test_usage_errors_exit_with_two(self) -> None:
        """Nothing runs, stdout is empty, and stderr has the remedy."""
        cases = {
            (): "--config FILE is required",
            ("--config", str(self.config), "--dry-run", "--layers", "0"): "Use at least 1",
            ("--config", str(self.config), "--dry-run", "--set", "layers"): "name=value",
            ("--config", str(self.config), "--dry-run", "--set", "layer=1"): "Did you mean layers?",
            ("--config", "/nowhere.json", "--dry-run"): "/nowhere.json cannot be read",
            ("--learning", "1"): "unrecognized arguments",
        }
        for flags, sentence in cases.items():
            with self.subTest(flags=flags):
                code, out, err = self.call(*flags)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(sentence, err)

    def test_describe_needs_the_standard_library_alone(self) -> None:
        """It works before the bundle is installed: no third-party package is imported."""
        probe = (
            "import sys; from mosaic_worker import *; from mosaic_worker.cli import main; "
            "loaded = {name.partition('.')[0] for name in sys.modules}; "
            "print(sorted(loaded & {'msgspec', 'orjson', 'numpy', 'typing_extensions'}))"
        )
        result = subprocess.run(
            [sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True
        )
        self.assertEqual(result.stdout, "[]\n")


class ResolveTest(unittest.TestCase):
    def error_message(self, config: dict[str, Any]) -> str:
        with self.assertRaises(ConfigError) as caught:
            resolve({**GOOD, **config}, DESCRIPTOR)
        return str(caught.exception)

    def test_every_error_names_field_problem_and_remedy(self) -> None:
        """The message is enough to correct the configuration."""
        cases: list[tuple[dict[str, Any], str]] = [
            ({"worker": "other"}, "worker: must be tiny, got other. Start other"),
            ({"algo": "ppo"}, "algo: 'ppo' is unknown to this worker. Use one of dqn, random."),
            ({"algo": None}, "algo: is missing. Use one of dqn, random."),
            ({"mode": "play"}, "mode: 'play' is unknown to this worker. Use one of train."),
            ({"env_id": "Pong"}, "env_id: 'Pong' is unknown to this worker. Use one of FrozenL"),
            ({"env_id": 3}, "env_id: must be a string, got a number."),
            ({"env_kwargs": []}, "env_kwargs: must be an object, got a list. Pass {"),
            ({"seed": -1}, "seed: must be an integer, at least 0, got -1."),
            ({"seed": True}, "seed: must be an integer, at least 0, got True."),
            ({"total_timesteps": 0}, "total_timesteps: must be an integer, at least 1, got 0."),
            ({"params": 3}, "params: must be an object, got a number."),
            ({"params": {"layers": 2.5}}, "params.layers: must be an integer, got 2.5. Use an int"),
            ({"params": {"layers": True}}, "params.layers: must be an integer, got True."),
            ({"params": {"dueling": 1}}, "params.dueling: must be true or false, got 1."),
            ({"params": {"note": 1}}, "params.note: must be a string, got 1."),
            (
                {"params": {"optimizer": "x"}},
                "'x' is not one of the choices. Use one of adam, sgd.",
            ),
            ({"params": {"learning_rate": 2}}, "Use a value from 0.0 to 1.0 1/step."),
            ({"params": {"lerning_rate": 1}}, "unknown parameter. Did you mean learning"),
        ]
        for config, sentence in cases:
            with self.subTest(config=config):
                self.assertIn(sentence, self.error_message(config))

    def test_values_are_converted_to_the_type_of_their_parameter(self) -> None:
        """An integral float becomes an int, an int a float, and None stays None."""
        config = resolve(
            {**GOOD, "params": {"layers": 4.0, "learning_rate": 1, "target": None}}, DESCRIPTOR
        )
        self.assertIsInstance(config.params["layers"], int)
        self.assertIsInstance(config.params["learning_rate"], float)
        self.assertIsNone(config.params["target"])

    def test_other_fields_are_accessible(self) -> None:
        """The complete document is available to a worker."""
        config = resolve({**GOOD, "warm_start": "x"}, DESCRIPTOR, Overrides({"seed": 5}))
        self.assertEqual(config.seed, 5)
        self.assertEqual(config.raw["warm_start"], "x")

    def test_a_misspelt_field_is_a_warning(self) -> None:
        """It has no effect, and the message suggests the correct name."""
        self.assertEqual(unknown_fields({"seed": 1, "metadata": {}}), [])
        (sentence,) = unknown_fields({"sede": 7})
        self.assertIn("'sede'", sentence)
        self.assertIn("Did you mean seed?", sentence)

    def test_the_error_of_a_wrong_value_names_its_flag(self) -> None:
        """The flag is named as it was entered."""
        for flag in ("--set layers", "--layers"):
            assignment = Assignment("layers", "many", flag)
            with self.assertRaises(ConfigError) as raised:
                resolve(GOOD, DESCRIPTOR, Overrides(params=[assignment]))
            self.assertIn(flag, str(raised.exception))

    def test_broken_files_have_different_errors(self) -> None:
        """Not readable, not JSON, and not an object."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "config.json"
            for text, sentence in (
                ("{", "is not JSON"),
                ("[1]", "must contain a JSON object, got a list"),
            ):
                path.write_text(text)
                with self.assertRaisesRegex(ConfigError, sentence):
                    read_config(str(path))
            with self.assertRaisesRegex(ConfigError, "cannot be read: Is a directory"):
                read_config(folder)


class DescriptorTest(unittest.TestCase):
    def test_an_inconsistent_descriptor_is_rejected(self) -> None:
        """Errors of an author appear at the first start, not in a user's form."""

        def described(*parameters: Parameter, **fields: Any) -> Descriptor:
            algorithm = Algorithm("one", "One", parameters=parameters, **fields)
            return Descriptor("tiny", "Tiny", "1.0", (algorithm,))

        number = Parameter("a", "int", 1)
        wrong: list[tuple[Descriptor, str]] = [
            (described(Parameter("a", "int", 0, min=1)), "default"),
            (described(Parameter("a", "number", 0)), "is not one of"),
            (described(Parameter("a b", "int", 0)), "identifier"),
            (described(Parameter("a", "choice", "x")), "choices"),
            (described(Parameter("a", "float", 1.0, search=(2.0, 1.0))), "low < high"),
            (described(Parameter("a", "float", 1.0, max=1.0, search=(0.5, 2.0))), "out of range"),
            (described(Parameter("a", "int", 1, search=(1, 2.5))), "integers"),
            (described(Parameter("a", "float", 1.0, search=(0.0, 1.0), log=True)), "above 0"),
            (described(Parameter("a", "str", "", log=True)), "require type int or float"),
            (described(Parameter("seed", "int", 0)), "reserved"),
            (described(number, number), "used twice"),
            (described(gpu="maybe"), "gpu"),
            (described(recommended={"atari": {"b": 1}}), "unknown"),
            (described(number)._replace(lane="fast"), "lane"),
            (described(number)._replace(modes=("sing",)), "modes"),
            (described(number)._replace(algorithms=()), "at least one"),
        ]
        for descriptor, message in wrong:
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                descriptor.check()


if __name__ == "__main__":
    unittest.main()
