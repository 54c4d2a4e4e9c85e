"""Shell completion: it needs no daemon and never fails."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process


def offered(mosaic: Mosaic, *arguments: str) -> list[str]:
    """The completions that bash gets after these arguments."""
    environment = {
        **mosaic.environment,
        "_MOSAIC_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("mosaic", *arguments)),
        "COMP_CWORD": str(len(arguments)),
    }
    done = subprocess.run(
        mosaic.command(), capture_output=True, text=True, check=True, env=environment
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.fixture
def mosaic_with_a_run(tmp_path: Path) -> tuple[Mosaic, str]:
    mosaic = Mosaic(tmp_path)
    run = mosaic.home.run(new_ulid())
    run.path.mkdir(parents=True)
    run.config.write_text(json.dumps({"worker": "echo_worker", "env_id": "Echo-v0"}))
    return mosaic, run.run_id[-8:]


def test_commands_and_options_are_completed(tmp_path: Path) -> None:
    """Including those of nested groups."""
    mosaic = Mosaic(tmp_path)
    assert "train" in offered(mosaic, "tr")
    assert {"list", "watch"} <= set(offered(mosaic, "runs", ""))
    assert "--total-timesteps" in offered(mosaic, "train", "echo_worker", "--to")


def test_runs_are_completed_with_short_ids(mosaic_with_a_run: tuple[Mosaic, str]) -> None:
    """The ids are read from the home."""
    mosaic, short = mosaic_with_a_run
    assert offered(mosaic, "runs", "show", "") == [short]
    assert offered(mosaic, "telemetry", short[:3]) == [short]
    assert offered(mosaic, "runs", "show", "--home", "elsewhere", "") == []


def test_workers_algorithms_and_bundles_are_completed(tmp_path: Path) -> None:
    """They are read from the worker folders."""
    mosaic = Mosaic(tmp_path)
    assert "echo_worker" in offered(mosaic, "train", "ec")
    assert offered(mosaic, "train", "echo_worker", "--algo", "") == ["echo"]
    assert offered(mosaic, "train", "echo_worker", "--set", "ra") == ["rate="]
    assert offered(mosaic, "train", "no_worker", "--algo", "") == []
    assert "echo_worker" in offered(mosaic, "bundles", "install", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(tmp_path: Path, shell: str) -> None:
    """The script names the program and its environment variable."""
    script = Mosaic(tmp_path).ok("completion", shell)
    assert f"_MOSAIC_COMPLETE={shell}_complete" in script


def test_bash_accepts_the_script(tmp_path: Path) -> None:
    """Bash reads it and completes `mosaic`."""
    script = Mosaic(tmp_path).ok("completion", "bash")
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\ncomplete -p mosaic"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert "_mosaic_completion" in done.stdout
