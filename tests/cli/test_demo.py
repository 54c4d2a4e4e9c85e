"""`mosaic demo` as a person runs it: real supervisor, real worker, real store."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

_DEADLINE_S = 60


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mosaic.cli.main", *arguments]


def mosaic(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=_DEADLINE_S, check=False
    )


def test_the_demo_stores_what_the_worker_writes(tmp_path: Path) -> None:
    """The table says how much, and the exit code is 0."""
    done = mosaic("demo", "--steps", "3000", "--rate", "0", "--home", str(tmp_path / "my home"))
    assert done.returncode == 0, done.stderr
    assert "succeeded" in done.stdout
    assert "3,000" in done.stdout
    (directory,) = (tmp_path / "my home" / "trainer" / "runs").iterdir()
    assert directory.name in done.stdout


@pytest.mark.parametrize("place", ["before", "after"])
def test_json_is_one_document_and_home_may_stand_anywhere(tmp_path: Path, place: str) -> None:
    """Progress and messages stay on stderr."""
    home = ["--home", str(tmp_path)]
    arguments = ["demo", "--json", "--steps", "1000", "--rate", "0"]
    done = mosaic(*home, *arguments) if place == "before" else mosaic(*arguments, *home)
    result = json.loads(done.stdout)
    assert (result["state"], result["exit_code"]) == ("succeeded", 0)
    assert result["digest"]["steps"] == 1_000
    assert result["digest"]["committed_bytes"] == result["digest"]["spool_bytes"]
    assert Path(result["directory"]).parent == tmp_path / "trainer" / "runs"


def test_ctrl_c_stops_the_run_and_keeps_what_came(tmp_path: Path) -> None:
    """The worker ends cleanly, everything it wrote is stored, and the exit code is 130."""
    demo = subprocess.Popen(
        command("demo", "--json", "--steps", "1000000", "--rate", "500", "--home", str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    wait_for_steps(tmp_path)
    demo.send_signal(signal.SIGINT)
    output, _ = demo.communicate(timeout=_DEADLINE_S)
    result: dict[str, Any] = json.loads(output)
    assert demo.returncode == 130
    assert result["state"] == "cancelled"
    assert 0 < result["digest"]["steps"] < 1_000_000
    assert result["digest"]["committed_bytes"] == result["digest"]["spool_bytes"]


def wait_for_steps(home: Path) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while time.monotonic() < deadline:
        if any(b'"step"' in spool.read_bytes() for spool in home.rglob("telemetry.jsonl")):
            return
        os.sched_yield()
    pytest.fail("the worker wrote no step")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["demo", "--steps", "many"], "--steps"),
        (["demo", "--no-such-option"], "--no-such-option"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_wrong_use_is_explained(arguments: list[str], said: str) -> None:
    """The message names what was wrong, on stderr, with exit code 2."""
    done = mosaic(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "--help" in done.stderr


def test_a_home_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    """What happened and what to do, without a traceback."""
    (tmp_path / "file").touch()
    done = mosaic("demo", "--home", str(tmp_path / "file" / "home"))
    assert done.returncode == 1
    assert "cannot be made" in done.stderr
    assert "--home" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_lists_every_command() -> None:
    """And says what the program is."""
    done = mosaic("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "reinforcement learning" in done.stdout
