"""`mosaic train`: from the command line to a finished run."""

import json

import pytest

from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process

_ECHO = ("train", "echo_worker", "--env", "Echo-v0")


def test_train_starts_a_daemon_and_runs_to_the_end(mosaic: Mosaic) -> None:
    """It prints one JSON document with the stats of the run."""
    result = mosaic.train(
        "--set", "steps=1e3", "--seed", "7", "--name", "mine", "--tag", "a", "--tag", "b"
    )
    assert (result["state"], result["exit_code"], result["reason"]) == (
        "succeeded",
        0,
        "Finished.",
    )
    assert (result["name"], result["tags"], result["seed"]) == ("mine", ["a", "b"], 7)
    assert result["digest"]["steps"] == 1000
    assert result["config"]["params"] == {"steps": 1000}
    assert mosaic.json("daemon", "status")["runs_by_state"]["succeeded"] == 1


def test_the_result_is_printed(shared_mosaic: Mosaic) -> None:
    """With the reason, the stats and the run directory."""
    printed = shared_mosaic.ok(*_ECHO, "--total-timesteps", "200")
    assert "succeeded" in printed
    assert "200 steps" in printed
    assert str(shared_mosaic.home.runs) in printed
    assert "mosaic runs show" in printed


def test_a_run_that_fails_is_exit_code_1(shared_mosaic: Mosaic) -> None:
    """As JSON and text, with the last output of the worker."""
    done = shared_mosaic(*_ECHO, "--set", "exit_code=3", "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert (result["state"], result["exit_code"]) == ("failed", 3)
    assert result["remedy"]
    done = shared_mosaic(*_ECHO, "--set", "crash_at=5")
    assert done.returncode == 1
    assert "SIGSEGV" in done.stdout


def test_detach_returns_at_once_and_watch_reattaches(shared_mosaic: Mosaic) -> None:
    """`runs watch` prints the same document as `train`."""
    started = shared_mosaic.train("--detach", "--set", "steps=1000", "--set", "rate=1000")
    assert started["state"] in ("queued", "preparing", "running")
    watched = shared_mosaic.json("runs", "watch", started["run_id"][-8:])
    assert (watched["run_id"], watched["state"]) == (started["run_id"], "succeeded")
    assert watched["digest"]["steps"] == 1000


def test_dry_run_and_preflight_start_nothing(shared_mosaic: Mosaic) -> None:
    """They print the command and whether the run could start."""
    before = shared_mosaic.json("runs", "list")["total"]
    dry = shared_mosaic.train("--dry-run", "--set", "steps=12")
    assert dry["ok"]
    assert dry["summary"]["arguments"]["steps"] == 12
    assert dry["run_command"][1:3] == ["-m", "echo_worker"]
    checks = shared_mosaic.train("--preflight")
    assert not checks["is_blocked"]
    assert {item["status"] for item in checks["items"]} <= {"ok", "warning"}
    printed = shared_mosaic.ok(*_ECHO, "--preflight")
    assert "ok  worker" in printed
    assert shared_mosaic.json("runs", "list")["total"] == before


def test_a_blocking_preflight_prevents_the_start(shared_mosaic: Mosaic) -> None:
    """With the remedy, exit code 1, and a document with state `refused`."""
    before = shared_mosaic.json("runs", "list")["total"]
    done = shared_mosaic(*_ECHO, "--launcher", "ray", "--json")
    assert done.returncode == 1
    refused = json.loads(done.stdout)
    assert (refused["run_id"], refused["state"]) == (None, "refused")
    assert refused["reason"]
    assert "--force" in done.stderr
    assert shared_mosaic.json("runs", "list")["total"] == before


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--set", "stesp=1"), "Did you mean `steps`"),
        (("--set", "steps=0"), "from 1"),
        (("--set", "steps"), "NAME=VALUE"),
        (("--algo", "ecko"), "Did you mean `echo`"),
        (("--seed", "-1"), "--seed"),
    ],
)
def test_invalid_values_are_usage_errors(
    shared_mosaic: Mosaic, arguments: tuple[str, ...], expected: str
) -> None:
    """Exit code 2 and a suggestion."""
    done = shared_mosaic(*_ECHO, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_a_misspelt_worker_gets_a_suggestion(shared_mosaic: Mosaic) -> None:
    """And the list of workers."""
    done = shared_mosaic("train", "eco_worker", "--env", "Echo-v0")
    assert done.returncode == 1
    assert "echo_worker" in done.stderr


def test_options_override_the_configuration_file(shared_mosaic: Mosaic) -> None:
    """The file's other values are used."""
    file = shared_mosaic.folder / "config.json"
    params = {"steps": 30, "episode_length": 10}
    file.write_text(json.dumps({"env_id": "File-v0", "seed": 3, "params": params}))
    result = shared_mosaic.json(
        "train", "echo_worker", "--config", str(file), "--seed", "4", "--set", "steps=40"
    )
    assert (result["env_id"], result["seed"]) == ("File-v0", 4)
    assert result["config"]["params"] == {"steps": 40, "episode_length": 10}
    assert result["digest"]["episodes"] == 4


def test_an_unknown_option_suggests_set(shared_mosaic: Mosaic) -> None:
    """A usage error explains how to set a parameter."""
    done = shared_mosaic("train", "echo_worker", "--episode-length", "7")
    assert done.returncode == 2
    assert "`--set episode_length=VALUE`" in done.stderr


@pytest.mark.parametrize("tag", ["x" * 101, "", "a\x1b[2J", "two\nlines"])
def test_an_invalid_tag_starts_nothing(shared_mosaic: Mosaic, tag: str) -> None:
    """It is a usage error before a run is created."""
    before = shared_mosaic.json("runs", "list")["total"]
    done = shared_mosaic(*_ECHO, "--detach", "--tag", "fine", "--tag", tag)
    assert done.returncode == 2
    assert "--tag" in done.stderr
    assert "\x1b" not in done.stderr
    assert shared_mosaic.json("runs", "list")["total"] == before
