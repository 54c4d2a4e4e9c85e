"""Run directories for real processes."""

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
    """Waits until a condition holds, and fails if it does not within a generous limit."""

    def wait(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, "the condition did not come true"
            time.sleep(POLL_S)

    return wait


@pytest.fixture
def launch_code(run_dir: RunDirectory) -> LaunchCode:
    """Launches a worker that is a few lines of Python."""

    def start(code: str) -> Running | Exited:
        return launch(run_dir, [sys.executable, "-I", "-S", "-c", code])

    return start


@pytest.fixture
def launch_ready(
    run_dir: RunDirectory, launch_code: LaunchCode, eventually: Eventually
) -> Callable[[str], Running]:
    """Like `launch_code`, and waits for the worker to print `ready`."""

    def start(code: str) -> Running:
        process = launch_code(code)
        eventually(lambda: b"ready\n" in run_dir.spool.read_bytes())
        assert isinstance(process, Running)
        return process

    return start


@pytest.fixture
def exited(run_dir: RunDirectory, eventually: Eventually) -> Callable[[], Exited]:
    """Waits for the run's exit record."""

    def wait() -> Exited:
        eventually(lambda: isinstance(observe(run_dir), Exited))
        process = observe(run_dir)
        assert isinstance(process, Exited)
        return process

    return wait
