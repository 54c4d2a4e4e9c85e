"""The process state of a run is derived from its directory."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_identity import read_stat
from mosaic.trainer.processes.run_process import (
    Exited,
    Lost,
    NotStarted,
    ProcessState,
    Running,
    observe,
    signal_worker,
)
from mosaic.trainer.processes.run_termination import finalize_lost, terminate_worker

Eventually = Callable[[Callable[[], object]], None]
LaunchReady = Callable[[str], Running]
WaitForExit = Callable[[], Exited]

WAITING = "print('ready', flush=True); input()"


def test_a_directory_without_records(run_dir: RunDirectory) -> None:
    """A run without a directory, or with an empty one, was not started."""
    assert observe(run_dir) == NotStarted()
    run_dir.path.mkdir(parents=True)
    assert observe(run_dir).state is ProcessState.NOT_STARTED


@pytest.mark.process
def test_running_then_exited(run_dir: RunDirectory, launch_ready: LaunchReady) -> None:
    """A run is `Running` until its worker exits, then `Exited`."""
    launch_ready(WAITING)
    assert isinstance(observe(run_dir), Running)
    assert isinstance(terminate_worker(run_dir, grace=10), Exited)
    assert isinstance(observe(run_dir), Exited)


@pytest.mark.process
def test_a_run_without_a_supervisor_is_lost(
    run_dir: RunDirectory, launch_ready: LaunchReady
) -> None:
    """A run with neither a supervisor nor an exit record is lost."""
    process = launch_ready("import signal; print('ready', flush=True); signal.pause()")
    process.supervisor.send(signal.SIGKILL)
    assert process.supervisor.wait(30)
    assert isinstance(observe(run_dir), Lost)
    assert process.worker.is_alive()
    finalize_lost(run_dir)
    assert not process.worker.is_alive()


@pytest.mark.process
def test_concurrent_observers(run_dir: RunDirectory, launch_ready: LaunchReady) -> None:
    """Processes that observe a lost run concurrently all report it as lost."""
    process = launch_ready(WAITING)
    process.supervisor.send(signal.SIGKILL)
    assert process.supervisor.wait(30)
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from mosaic.contract.layout import RunDirectory\n"
        "from mosaic.trainer.processes.run_process import observe\n"
        "run_dir = RunDirectory(Path(sys.argv[1]))\n"
        "print({str(observe(run_dir).state) for _ in range(2000)})"
    )
    observers = [
        subprocess.Popen([sys.executable, "-c", code, run_dir.path], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    for observer in observers:
        assert observer.communicate()[0] == b"{'lost'}\n"
    finalize_lost(run_dir)


@pytest.mark.process
def test_pause_and_resume(
    run_dir: RunDirectory, launch_ready: LaunchReady, eventually: Eventually
) -> None:
    """SIGSTOP pauses the complete process group, SIGCONT resumes it."""
    process = launch_ready(
        "import os, time\n"
        "os.fork()\n"
        "print('ready', flush=True)\n"
        "print(os.getpid(), flush=True)\n"
        "input()"
    )
    eventually(lambda: run_dir.spool.read_text().count("\n") == 4)
    pids = [int(line) for line in run_dir.spool.read_text().split() if line.isdigit()]
    assert process.worker.pid in pids

    def states() -> set[str]:
        return {stat.state for pid in pids if (stat := read_stat(pid))}

    signal_worker(run_dir, signal.SIGSTOP)
    eventually(lambda: states() == {"T"})
    assert isinstance(observe(run_dir), Running)
    signal_worker(run_dir, signal.SIGCONT)
    eventually(lambda: "T" not in states())
    terminate_worker(run_dir, grace=0.2)


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGCONT])
def test_only_a_running_run_can_be_paused(
    run_dir: RunDirectory, launch_ready: LaunchReady, number: signal.Signals
) -> None:
    """A run that is not started or has exited cannot be paused."""
    with pytest.raises(UserError, match="it is not_started"):
        signal_worker(run_dir, number)
    launch_ready(WAITING)
    terminate_worker(run_dir, grace=10)
    with pytest.raises(UserError, match="it is exited"):
        signal_worker(run_dir, number)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"exit_code": "0"}', b"\xff"])
@pytest.mark.parametrize("name", ["started.json", "exit.json"])
def test_a_damaged_record(run_dir: RunDirectory, name: str, content: bytes) -> None:
    """The error names a record that cannot be decoded."""
    run_dir.path.mkdir(parents=True)
    (run_dir.path / name).write_bytes(content)
    with pytest.raises(UserError, match=f"{name} cannot be read"):
        observe(run_dir)


def test_a_directory_instead_of_a_record(run_dir: RunDirectory) -> None:
    """The error has the path; the run is not reported as not started."""
    run_dir.exit.mkdir(parents=True)
    with pytest.raises(UserError, match=r"exit\.json cannot be read"):
        observe(run_dir)


def test_a_newer_supervisor_may_add_fields(run_dir: RunDirectory) -> None:
    """Unknown fields are ignored."""
    run_dir.path.mkdir(parents=True)
    record = {
        "v": 2,
        "exit_code": 0,
        "signal": None,
        "t": 1.0,
        "duration_s": 1.0,
        "max_rss_bytes": 1,
        "cpu_s": 1.0,
        "strays_ended": 0,
        "energy_j": 12,
    }
    Path(run_dir.exit).write_text(json.dumps(record))
    process = observe(run_dir)
    assert isinstance(process, Exited)
    assert process.exit.exit_code == 0
