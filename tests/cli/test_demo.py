"""`mosaic demo` as a person runs it: real supervisor, real worker, real store."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.layout import RunDirectory
from mosaic.trainer.processes.process_table import read_stat
from mosaic.trainer.processes.run_ending import end_worker

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


@pytest.fixture
def long_demo(tmp_path: Path) -> "Iterator[subprocess.Popen[str]]":
    """A demo that would take half an hour, started as from an interactive shell."""
    long_run = ("--json", "--steps", "1000000", "--rate", "500")
    demo = subprocess.Popen(
        # A shell in the background starts its children with SIGINT ignored.
        ["env", "--default-signal=INT", *command("demo", *long_run, "--home", str(tmp_path))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    yield demo
    demo.kill()
    demo.communicate()
    for run in (tmp_path / "trainer" / "runs").glob("*"):
        end_worker(RunDirectory(run), grace_s=5)


def test_ctrl_c_stops_the_run_and_keeps_what_came(
    tmp_path: Path, long_demo: "subprocess.Popen[str]"
) -> None:
    """The worker ends cleanly, everything it wrote is stored, and the exit code is 130."""
    wait_for_steps(tmp_path)
    long_demo.send_signal(signal.SIGINT)
    output, _ = long_demo.communicate(timeout=_DEADLINE_S)
    result: dict[str, Any] = json.loads(output)
    assert long_demo.returncode == 130
    assert result["state"] == "cancelled"
    assert 0 < result["digest"]["steps"] < 1_000_000
    assert result["digest"]["committed_bytes"] == result["digest"]["spool_bytes"]


def test_a_run_is_called_lost_only_when_nothing_of_it_lives(
    tmp_path: Path, long_demo: "subprocess.Popen[str]"
) -> None:
    """With its supervisor killed, the worker is ended first, and all that it wrote is stored."""
    wait_for_steps(tmp_path)
    (directory,) = (tmp_path / "trainer" / "runs").iterdir()
    started = json.loads((directory / "started.json").read_text())
    os.kill(started["supervisor"]["pid"], signal.SIGKILL)
    output, _ = long_demo.communicate(timeout=_DEADLINE_S)
    result: dict[str, Any] = json.loads(output)
    assert (long_demo.returncode, result["state"]) == (1, "lost")
    worker = read_stat(started["pid"])
    assert worker is None or worker.is_dead
    assert result["digest"]["committed_bytes"] == (directory / "telemetry.jsonl").stat().st_size


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


def test_brackets_in_a_path_are_not_taken_for_styles(tmp_path: Path) -> None:
    """The folder is named as it is."""
    home = tmp_path / "runs [/b] [bold]"
    done = mosaic("demo", "--steps", "10", "--rate", "0", "--home", str(home))
    assert done.returncode == 0, done.stderr
    assert str(home) in done.stdout


def test_help_lists_every_command() -> None:
    """And says what the program is."""
    done = mosaic("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "reinforcement learning" in done.stdout
