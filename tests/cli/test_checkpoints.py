"""`mosaic checkpoints`, `evaluate` and `train --resume`."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.descriptor import WorkerCapabilities
from tests.cli.apprentice import WORKER, with_apprentice
from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process

_TRAIN = ("train", WORKER, "--algo", "count", "--env", "Some-v0")


@pytest.fixture(scope="module")
def mosaic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosaic]:
    with with_apprentice(tmp_path_factory.mktemp("checkpoints")) as made:
        yield made


@pytest.fixture(scope="module")
def failed_run(mosaic: Mosaic) -> dict[str, Any]:
    """A run that saved a policy at step 3 and failed at step 4."""
    done = mosaic(*_TRAIN, "--set", "steps=6", "--set", "fail_at=4", "--name", "first")
    assert done.returncode == 1
    assert f"mosaic train {WORKER} --resume" in done.stderr
    printed: dict[str, Any] = mosaic.json("runs", "show", "first")
    return printed


def test_list_show_and_verify(mosaic: Mosaic, failed_run: dict[str, Any]) -> None:
    """Checkpoints are listed by run, with the metadata of the worker."""
    (listed,) = mosaic.json("checkpoints", "list", "--run", "first")["checkpoints"]
    assert (listed["run_id"], listed["meta"]["step"]) == (failed_run["run_id"], 3)
    assert mosaic.json("checkpoints", "list", "--env", "Other-v0")["checkpoints"] == []
    assert "last.json" in mosaic.ok("checkpoints", "list")
    printed = mosaic.ok("checkpoints", "show", listed["checkpoint_id"])
    assert "mosaic evaluate" in mosaic("checkpoints", "show", "first").stderr
    assert str(mosaic.home.runs) in printed
    assert "intact" in mosaic.ok("checkpoints", "verify", listed["checkpoint_id"][-6:])


@pytest.mark.usefixtures("failed_run")
def test_a_listed_id_is_unique(mosaic: Mosaic) -> None:
    """Also if two runs saved a file of the same name; the name of the run is listed as well."""
    second = mosaic.json(*_TRAIN)["run_id"]
    listed = [line.split() for line in mosaic.ok("checkpoints", "list").splitlines()]
    assert listed[0][:2] == ["ID", "RUN"]
    printed = {run: checkpoint for checkpoint, run, *_ in listed[1:]}
    assert {"first", second[-8:]} <= printed.keys()
    assert mosaic.json("checkpoints", "show", printed[second[-8:]])["run_id"] == second
    first = mosaic.json("checkpoints", "show", printed["first"])["run_id"]
    assert first == mosaic.json("runs", "show", "first")["run_id"]


def test_a_resumed_run_keeps_its_configuration(mosaic: Mosaic, failed_run: dict[str, Any]) -> None:
    """It starts from the newest checkpoint; options override parameters."""
    result = mosaic.json("train", WORKER, "--resume", "first", "--set", "fail_at=none")
    assert result["state"] == "succeeded"
    config = result["config"]
    assert (config["params"]["steps"], config["env_id"], config["run_name"]) == (6, "Some-v0", None)
    assert (config["parent_run"], config["metadata"]["resume"]) == (failed_run["run_id"], True)
    assert config["warm_start"].startswith(failed_run["run_id"])
    (series,) = mosaic.json("telemetry", result["run_id"], "metrics")["series"]
    assert series["points"] == 3


def test_runs_that_cannot_be_resumed_are_reported(mosaic: Mosaic) -> None:
    """A run without a checkpoint, a run of another worker, and an unknown run."""
    mosaic.ok("train", WORKER, "--algo", "rest", "--env", "Some-v0", "--name", "rested")
    done = mosaic("train", WORKER, "--resume", "rested")
    assert done.returncode == 1
    assert "has saved no checkpoint" in done.stderr
    done = mosaic("train", "echo_worker", "--resume", "first")
    assert done.returncode == 2
    assert f"mosaic train {WORKER} --resume first" in done.stderr
    assert mosaic("train", WORKER, "--resume", "nonsense").returncode == 1


@pytest.mark.usefixtures("failed_run")
@pytest.mark.parametrize(
    ("supports", "remedy"),
    [
        (WorkerCapabilities(warm_start=True), "--algo count --env Some-v0 --warm-start 0"),
        (WorkerCapabilities(), "Start a new run, without --resume"),
    ],
)
def test_a_worker_without_resume_is_rejected(
    mosaic: Mosaic, monkeypatch: pytest.MonkeyPatch, supports: WorkerCapabilities, remedy: str
) -> None:
    """The error names the alternative."""
    describe = TrainerClient.describe
    monkeypatch.setattr(
        TrainerClient,
        "describe",
        lambda *arguments: msgspec.structs.replace(describe(*arguments), supports=supports),
    )
    done = mosaic("train", WORKER, "--resume", "first")
    assert done.returncode == 2
    assert f"{WORKER} cannot resume a run" in done.stderr
    assert remedy in done.stderr


@pytest.mark.usefixtures("failed_run")
def test_evaluate_reports_return_length_and_success(mosaic: Mosaic) -> None:
    """In a run of the worker that saved the policy, for the given number of episodes."""
    result = mosaic.json("evaluate", "first", "--episodes", "4", "--seeds", "1,5-7")
    assert (result["state"], result["mode"], result["config"]["seeds"]) == (
        "succeeded",
        "evaluate",
        [1, 5, 6, 7],
    )
    summary = result["summary"]
    assert (summary["episodes"], summary["success_rate"]) == (4, 0.5)
    assert summary["returns"] == {"mean": 3.0, "std": 0.0, "min": 3.0, "max": 3.0}
    printed = mosaic.ok("evaluate", "first", "--env", "Other-v0")
    assert "return: mean 3, std 0" in printed
    assert printed.count("mean 3") == 2  # return and steps
    assert "mean return" not in printed
    assert "10 episodes, in" in printed
    # The one policy is named before, and not in every row.
    assert printed.splitlines()[0].split() == ["episode", "steps", "return", "end"]
    listed = [line.split() for line in mosaic.ok("runs", "list", "--env", "Other-v0").splitlines()]
    assert (listed[0][1], listed[1][1]) == ("MODE", "evaluate")
    assert "MODE" not in mosaic.ok("runs", "list", "--text", "first")
    assert "success: 50%" in printed
    for seeds in ("1,x", "5-3", ""):
        assert mosaic("evaluate", "first", "--seeds", seeds).returncode == 2
    assert "no checkpoint 'nonsense'" in mosaic("evaluate", "nonsense").stderr


def test_a_policy_is_evaluated_in_the_bundle_that_it_was_trained_in(mosaic: Mosaic) -> None:
    """With the same name and extras, to which further extras can be added."""
    bundle = {"name": "apprentice_scripts", "extras": ["more"]}
    file = mosaic.folder / "elsewhere.json"
    file.write_text(json.dumps({"algo": "count", "env_id": "Some-v0", "bundle": bundle}))
    mosaic.ok("train", WORKER, "--config", str(file), "--name", "elsewhere")
    for extras in ((), ("--extra", "more")):
        result = mosaic.json("evaluate", "elsewhere", "--episodes", "1", *extras)
        assert (result["state"], result["config"]["bundle"]) == ("succeeded", bundle)


def test_a_file_from_elsewhere_is_imported_used_and_deleted(mosaic: Mosaic) -> None:
    """An imported policy can be evaluated; a deleted one no longer exists."""
    file = mosaic.folder / "policy.json"
    file.write_text("7")
    line = ("checkpoints", "import", str(file), "--worker", WORKER, "--env", "Some-v0")
    (taken,) = mosaic.json(*line, "--algo", "count", "--meta", "step=9")["checkpoints"]
    assert (taken["source"], taken["meta"]["step"]) == ("imported", 9)
    evaluated = mosaic.json("evaluate", taken["checkpoint_id"], "--episodes", "1")
    assert evaluated["summary"]["returns"]["mean"] == 7.0
    done = mosaic("train", WORKER, "--resume", taken["checkpoint_id"])
    assert done.returncode == 2
    assert "--warm-start" in done.stderr
    assert mosaic("checkpoints", "delete", taken["checkpoint_id"]).returncode == 2
    deleted = mosaic.json("checkpoints", "delete", "-y", taken["checkpoint_id"])
    assert deleted["deleted"] == [taken["checkpoint_id"]]
    assert mosaic("checkpoints", "show", taken["checkpoint_id"]).returncode == 1


def test_a_runs_checkpoint_is_deleted_with_its_entry(mosaic: Mosaic) -> None:
    """The run and its manifest remain; `verify` detects a damaged file."""
    run = mosaic.json(*_TRAIN, "--name", "short")
    (saved,) = mosaic.json("checkpoints", "list", "--run", "short")["checkpoints"]
    (mosaic.home.path / saved["path"]).write_text("damaged")
    done = mosaic("checkpoints", "verify", "short")
    assert done.returncode == 1
    assert saved["checkpoint_id"] in done.stdout
    mosaic.ok("checkpoints", "delete", "-y", "short")
    assert mosaic.json("checkpoints", "list", "--run", "short")["checkpoints"] == []
    assert mosaic.json("runs", "show", run["run_id"])["manifest"]["checkpoints"] == []
