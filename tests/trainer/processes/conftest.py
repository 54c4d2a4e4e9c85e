"""Fixtures that start real worker processes in a run directory."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.trainer.processes.launcher import launch
from mosaic.trainer.processes.run_process import Exited, Running, observe

TIMEOUT_S = 60.0
POLL_S = 0.005

Eventually = Callable[[Callable[[], object]], None]
LaunchCode = Callable[[str], Running | Exited]


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path / "runs" / new_ulid())


@pytest.fixture
def eventually() -> Eventually:
    """Wait until a condition is true; fail after a timeout."""

    def wait(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, "timed out waiting for the condition"
            time.sleep(POLL_S)

    return wait


@pytest.fixture
def launch_code(run_dir: RunDirectory) -> LaunchCode:
    """Launch a worker that runs the given Python code."""

    def start(code: str) -> Running | Exited:
        return launch(run_dir, [sys.executable, "-I", "-S", "-c", code])

    return start


@pytest.fixture
def launch_ready(
    run_dir: RunDirectory, launch_code: LaunchCode, eventually: Eventually
) -> Callable[[str], Running]:
    """Like `launch_code`, but wait until the worker prints `ready`."""

    def start(code: str) -> Running:
        process = launch_code(code)
        eventually(lambda: b"ready\n" in run_dir.spool.read_bytes())
        assert isinstance(process, Running)
        return process

    return start


@pytest.fixture
def exited(run_dir: RunDirectory, eventually: Eventually) -> Callable[[], Exited]:
    """Wait for the run's exit record."""

    def wait() -> Exited:
        eventually(lambda: isinstance(observe(run_dir), Exited))
        process = observe(run_dir)
        assert isinstance(process, Exited)
        return process

    return wait
