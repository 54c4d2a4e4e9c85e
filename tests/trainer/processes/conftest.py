"""Run directories for real processes, and proof that no test leaves one behind."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.trainer.processes.local_launcher import launch
from mosaic.trainer.processes.run_process import Exited, Running, observe

PATIENCE_S = 60.0
POLL_S = 0.005

Eventually = Callable[[Callable[[], object]], None]
LaunchCode = Callable[[str], Running | Exited]


@pytest.fixture(autouse=True)
def no_process_left(tmp_path: Path) -> Iterator[None]:
    """Fails a test that leaves a process working in its folder; the process is ended."""
    yield
    deadline = time.monotonic() + 10.0
    while left := _processes_of(tmp_path):
        time.sleep(POLL_S)
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            pytest.fail(f"processes left behind by this test: {left}")


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path / "runs" / new_ulid())


@pytest.fixture
def eventually() -> Eventually:
    """Waits until a condition holds, and fails if it does not within a generous limit."""

    def wait(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_S
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


def _processes_of(folder: Path) -> dict[int, bytes]:
    """Living processes that were started for `folder` or have it as their current folder."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
            traces = (entry / "environ").read_bytes() + os.fsencode((entry / "cwd").readlink())
            if state not in b"ZX" and os.fsencode(folder) in traces:
                found[int(entry.name)] = (entry / "cmdline").read_bytes()
        except OSError:
            continue
    return found
