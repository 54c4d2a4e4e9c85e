"""The worker's command line: without installed packages, and with a saved table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
SOURCES = [ROOT / "worker_sdk" / "src", ROOT / "workers" / "spade_bdi_rl_worker" / "src"]
NOT_SLIPPERY = {"env_id": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}}


def run_isolated(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it with the standard library, the SDK and the worker only."""
    script = (
        "import sys, runpy; sys.path[:0] = sys.argv.pop(1).split(':');"
        "runpy.run_module('spade_bdi_rl_worker', run_name='__main__', alter_sys=True)"
    )
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, ":".join(map(str, SOURCES)), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"]},
    )


def run_worker(
    folder: Path, config: dict[str, Any], checkpoint: Path | None
) -> list[dict[str, Any]]:
    """Run the worker to its end and return its telemetry."""
    folder.mkdir(exist_ok=True)
    file = folder / "config.json"
    file.write_text(json.dumps({"algo": "q_learning", **config}))
    environment = {
        **os.environ,
        "PYTHONPATH": ":".join(map(str, SOURCES)),
        "MOSAIC_RUN_DIR": str(folder),
    }
    environment.pop("MOSAIC_CHECKPOINT", None)
    if checkpoint is not None:
        environment["MOSAIC_CHECKPOINT"] = str(checkpoint)
    result = subprocess.run(
        [sys.executable, "-m", "spade_bdi_rl_worker", "--config", str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table trained on FrozenLake without slippery ice."""
    folder = tmp_path_factory.mktemp("trained")
    run = LearningRun(folder, {**NOT_SLIPPERY, "telemetry": {"steps": "off"}})
    learner = run.learner()
    learner.learn(2_000, always)
    path = learner.save("at the end")
    run.finish(learner)
    return path


def test_describe_needs_no_installed_packages() -> None:
    """It has algorithms with labels, groups, help and pages; tabs; and supported features."""
    result = run_isolated("--describe")
    assert result.returncode == 0, result.stderr
    descriptor = json.loads(result.stdout)

    assert [algorithm["id"] for algorithm in descriptor["algorithms"]] == [
        "q_learning", "double_q_learning", "sarsa",
    ]  # fmt: skip
    assert descriptor["tabs"] == ["beliefs"]
    assert descriptor["lane"] == "telemetry"
    assert descriptor["supports"]["pause"]
    assert descriptor["supports"]["warm_start"]
    assert any("GPLv3" in sentence for sentence in descriptor["licence"])
    for algorithm in descriptor["algorithms"]:
        assert algorithm["page"].startswith("# ")
        for parameter in algorithm["parameters"]:
            assert parameter["help"].endswith(".")
            assert parameter["group"]


def test_a_dry_run_shows_the_presets_of_the_environment(tmp_path: Path) -> None:
    """Values set by the user stay."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"algo": "sarsa", **NOT_SLIPPERY, "params": {"discount": 0.5}}))
    result = run_isolated("--config", str(file), "--dry-run", "--emit-summary")
    assert result.returncode == 0, result.stderr
    arguments = json.loads(result.stdout)["arguments"]

    assert (arguments["discount"], arguments["learning_rate"]) == (0.5, 0.8)
    assert arguments["max_episodes"] == 2_000


def test_a_saved_table_is_evaluated_in_the_play_loop(tmp_path: Path, table: Path) -> None:
    """The greedy policy runs with the training's environment arguments; its table is reported."""
    config = {"mode": "evaluate", "env_id": "FrozenLake-v1", "episodes": 3}
    lines = run_worker(tmp_path, config, table)

    assert lines[-1] == {"type": "bye", "outcome": "succeeded"}
    episodes = [line for line in lines if line["type"] == "episode"]
    assert [line["return"] for line in episodes] == [1, 1, 1]
    assert [line["steps"] for line in episodes] == [6, 6, 6]
    policy = next(line for line in lines if line["type"] == "policy")
    assert len(policy["q_values"]) == len(policy["actions"]) == 16
    steps = [line for line in lines if line["type"] == "step"]
    assert {line["actor"] for line in steps} == {"q_learning"}
    assert steps[0]["action"] == policy["actions"][0]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"env_id": "FrozenLake8x8-v1"}, "another map"),
        ({"env_id": "CliffWalking-v1"}, "this environment is CliffWalking-v1"),
    ],
)
def test_a_table_of_another_environment_is_rejected(
    tmp_path: Path, table: Path, config: dict[str, Any], message: str
) -> None:
    """The run fails with an error and a remedy."""
    bye = run_worker(tmp_path, {"mode": "play", **config}, table)[-1]
    assert bye["outcome"] == "failed"
    assert message in bye["error"]
    assert "choose a checkpoint of this environment" in bye["remedy"]


def test_playing_needs_a_checkpoint(tmp_path: Path) -> None:
    """The remedy has the command that lists checkpoints."""
    bye = run_worker(tmp_path, {"mode": "evaluate", **NOT_SLIPPERY}, None)[-1]
    assert bye["outcome"] == "failed"
    assert "mosaic checkpoints list" in bye["remedy"]
