"""`mosaic demo` with a real daemon, supervisor, worker and store."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.process_identity import read_stat
from tests.support.mosaic_cli import DEADLINE_S, Mosaic

pytestmark = pytest.mark.process


def test_the_demo_stores_what_the_worker_writes(mosaic: Mosaic) -> None:
    """It prints the stats and the started daemon, with exit code 0."""
    home = mosaic.folder / "my home"
    done = mosaic("demo", "--echo", "--steps", "3000", "--rate", "0", "--home", str(home))
    assert done.returncode == 0, done.stderr
    assert "succeeded" in done.stdout
    assert "3,000" in done.stdout
    (directory,) = (home / "trainer" / "runs").iterdir()
    assert directory.name in done.stdout
    assert "mosaic daemon stop" in done.stderr


def test_the_demo_starts_with_a_learning_agent(
    mosaic: Mosaic, give_bundles: Callable[..., None]
) -> None:
    """The BDI agent learns the task, and all its steps and beliefs are stored."""
    give_bundles(mosaic.home, "spade_bdi_rl_worker")
    result = mosaic.json("demo", "--steps", "12000", "--rate", "0")
    assert result["state"] == "succeeded", result
    assert result["digest"]["steps"] == 12_000
    assert result["digest"]["committed_bytes"] == result["digest"]["spool_bytes"]
    assert result["digest"]["rejects"] == 0
    printed = mosaic.json("runs", "show", result["run_id"])
    assert printed["worker"] == "spade_bdi_rl_worker"
    assert printed["digest"]["mean_return"] > 0.5


def test_the_demo_falls_back_to_the_echo_worker(
    mosaic: Mosaic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the bundle cannot be installed."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    done = mosaic("demo", "--steps", "1000", "--rate", "0")
    assert done.returncode == 0, done.stderr
    assert "The agent cannot run here" in done.stderr
    assert "Using the echo worker instead" in done.stderr
    assert "1,000" in done.stdout


def test_opening_the_window_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message is printed before the window opens."""
    opened = []
    monkeypatch.setattr("mosaic.cli.demo.find_window_problem", lambda: None)
    monkeypatch.setattr("mosaic.cli.demo.become_window", lambda _, *given: opened.append(given))
    mosaic = Mosaic(tmp_path)
    try:
        done = mosaic("demo", "--echo", "--steps", "10", "--rate", "0", "--window")
        (run,) = mosaic.json("runs", "list")["runs"]
    finally:
        mosaic.clean_up()
    assert done.returncode == 0
    assert "Opening the window. Close it" in done.stderr
    assert opened == [("--run", run["run_id"])]


@pytest.mark.parametrize("place", ["before", "after"])
def test_json_is_one_document_with_home_anywhere(mosaic: Mosaic, place: str) -> None:
    """Progress and messages stay on stderr."""
    chosen = mosaic.folder / "chosen"
    home = ["--home", str(chosen)]
    arguments = ["demo", "--echo", "--json", "--steps", "1000", "--rate", "0"]
    done = mosaic(*home, *arguments) if place == "before" else mosaic(*arguments, *home)
    result = json.loads(done.stdout)
    assert (result["state"], result["exit_code"]) == ("succeeded", 0)
    assert result["digest"]["steps"] == 1_000
    assert result["digest"]["committed_bytes"] == result["digest"]["spool_bytes"]
    assert result["duration_s"] > 0
    assert Path(result["directory"]).parent == chosen / "trainer" / "runs"


@pytest.fixture
def long_demo(mosaic: Mosaic) -> "Iterator[Popen[str]]":
    """A demo of half an hour, started as from an interactive shell."""
    demo = mosaic.start("demo", "--echo", "--json", "--steps", "1000000", "--rate", "500")
    yield demo
    demo.kill()
    demo.communicate()


def test_ctrl_c_stops_the_run_and_keeps_its_telemetry(
    mosaic: Mosaic, long_demo: "Popen[str]"
) -> None:
    """The worker ends cleanly, everything it wrote is stored, and the exit code is 130."""
    wait_for_steps(mosaic.home)
    long_demo.send_signal(signal.SIGINT)
    output, _ = long_demo.communicate(timeout=DEADLINE_S)
    result: dict[str, Any] = json.loads(output)
    assert long_demo.returncode == 130
    assert result["state"] == "cancelled"
    assert 0 < result["digest"]["steps"] < 1_000_000
    assert result["digest"]["committed_bytes"] == result["digest"]["spool_bytes"]


def test_a_run_is_lost_only_if_no_process_is_left(mosaic: Mosaic, long_demo: "Popen[str]") -> None:
    """If the supervisor is killed, the worker is killed first, and its output is stored."""
    wait_for_steps(mosaic.home)
    (directory,) = mosaic.home.runs.iterdir()
    started = json.loads(RunDirectory(directory).started.read_text())
    os.kill(started["supervisor"]["pid"], signal.SIGKILL)
    output, _ = long_demo.communicate(timeout=DEADLINE_S)
    result: dict[str, Any] = json.loads(output)
    assert (long_demo.returncode, result["state"]) == (1, "lost")
    worker = read_stat(started["pid"])
    assert worker is None or worker.is_dead
    assert result["digest"]["committed_bytes"] == (directory / "telemetry.jsonl").stat().st_size


def wait_for_steps(home: Home) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if any(b'"step"' in spool.read_bytes() for spool in home.runs.glob("*/telemetry.jsonl")):
            return
        os.sched_yield()
    pytest.fail("the worker wrote no step")


def test_a_home_that_cannot_be_created_is_reported(mosaic: Mosaic) -> None:
    """With an error and a remedy, without a traceback."""
    (mosaic.folder / "file").touch()
    done = mosaic("demo", "--home", str(mosaic.folder / "file" / "home"))
    assert done.returncode == 1
    assert "cannot be created" in done.stderr
    assert "--home" in done.stderr
    assert "Traceback" not in done.stderr


def test_brackets_in_a_path_are_not_markup(mosaic: Mosaic) -> None:
    """The path is printed unchanged."""
    home = mosaic.folder / "runs [/b] [bold]"
    done = mosaic("demo", "--echo", "--steps", "10", "--rate", "0", "--home", str(home))
    assert done.returncode == 0, done.stderr
    assert str(home) in done.stdout
