"""Terminating a run kills all of its processes and no others."""

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from mosaic.contract.layout import RUN_DIR_VARIABLE, RUN_ID_VARIABLE, RunDirectory
from mosaic.contract.process_identity import ProcessIdentity, live_processes
from mosaic.contract.process_records import StartedRecord, SupervisorStamp
from mosaic.trainer.processes.run_process import (
    Exited,
    Lost,
    NotStarted,
    Running,
    observe,
    signal_worker,
)
from mosaic.trainer.processes.run_termination import finalize_lost, find_members, terminate_worker

pytestmark = pytest.mark.process

Eventually = Callable[[Callable[[], object]], None]
LaunchReady = Callable[[str], Running]

EXITS_ON_COMMAND = """
import sys
print("ready", flush=True)
print(sys.stdin.readline(), end="", flush=True)
sys.exit(6)
"""
IGNORES_COMMANDS = "import signal; print('ready', flush=True); signal.pause()"
IGNORES_SIGTERM = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    signal.pause()
"""
LEADERLESS = "import os, signal; os.fork() or (print(os.getpid(), flush=True), signal.pause())"
SCATTERED = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def run_forever():
    print(os.getpid(), flush=True)
    while True:
        signal.pause()
print("ready", flush=True)
if os.fork() == 0:
    run_forever()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        run_forever()
    os._exit(0)
if os.fork() == 0:
    os.execve("/bin/sh", ["sh", "-c", "echo $$; exec sleep 1000"], {"PATH": os.environ["PATH"]})
"""
LEADER_RUNS = SCATTERED + "run_forever()"
LEADER_EXITS = SCATTERED + "print(os.getpid(), flush=True); os.read(0, 1)"


def kill_supervisor(process: Running) -> None:
    assert process.supervisor.send(signal.SIGKILL)
    assert process.supervisor.wait(30)


def record_start(run_dir: RunDirectory, worker: ProcessIdentity) -> None:
    """Write the record of a supervisor that has exited."""
    run_dir.path.mkdir(parents=True, exist_ok=True)
    started = StartedRecord(
        pid=worker.pid,
        start_ticks=worker.start_ticks,
        boot_id=worker.boot_id,
        t=0.0,
        supervisor=SupervisorStamp(pid=worker.pid, start_ticks=0),
    )
    run_dir.started.write_bytes(msgspec.json.encode(started))


def test_stop_is_sent_first(run_dir: RunDirectory, launch_ready: LaunchReady) -> None:
    """A worker that handles `stop` exits with its own exit code."""
    launch_ready(EXITS_ON_COMMAND)
    process = terminate_worker(run_dir, grace=30, stop_seq=12)
    assert isinstance(process, Exited)
    assert process.exit.exit_code == 6
    assert run_dir.spool.read_text() == 'ready\n{"cmd":"stop","seq":12}\n'


@pytest.mark.parametrize(
    ("code", "number"), [(IGNORES_COMMANDS, signal.SIGTERM), (IGNORES_SIGTERM, signal.SIGKILL)]
)
def test_sigterm_and_then_sigkill(
    run_dir: RunDirectory, launch_ready: LaunchReady, code: str, number: signal.Signals
) -> None:
    """A worker that ignores `stop` gets SIGTERM; one that ignores SIGTERM gets SIGKILL."""
    started = launch_ready(code).started
    process = terminate_worker(run_dir, grace=0.2)
    assert isinstance(process, Exited)
    assert process.exit.signal == number
    assert not find_members(run_dir, started)


def test_a_paused_worker_can_be_stopped(run_dir: RunDirectory, launch_ready: LaunchReady) -> None:
    """A paused worker is resumed so that it can handle `stop`."""
    launch_ready(EXITS_ON_COMMAND)
    signal_worker(run_dir, signal.SIGSTOP)
    process = terminate_worker(run_dir, grace=30)
    assert isinstance(process, Exited)
    assert process.exit.exit_code == 6


def test_terminating_a_run_without_a_worker_does_nothing(
    run_dir: RunDirectory, launch_ready: LaunchReady
) -> None:
    """Terminating a run that was not started or has finished changes nothing."""
    assert terminate_worker(run_dir, grace=10) == NotStarted()
    assert finalize_lost(run_dir) == NotStarted()
    launch_ready(EXITS_ON_COMMAND)
    first = terminate_worker(run_dir, grace=30)
    assert terminate_worker(run_dir, grace=10) == finalize_lost(run_dir) == first


def test_finalize_lost_ignores_a_running_run(
    run_dir: RunDirectory, launch_ready: LaunchReady
) -> None:
    """While the supervisor is alive, the run is not lost and no process is killed."""
    process = launch_ready(EXITS_ON_COMMAND)
    assert isinstance(finalize_lost(run_dir), Running)
    assert process.worker.is_alive()
    terminate_worker(run_dir, grace=30)


@pytest.mark.parametrize("code", [LEADER_RUNS, LEADER_EXITS])
@pytest.mark.parametrize("finish", [finalize_lost, terminate_worker])
def test_processes_of_a_lost_run_are_killed(
    run_dir: RunDirectory,
    launch_ready: LaunchReady,
    eventually: Eventually,
    code: str,
    finish: Callable[[RunDirectory, float], object],
) -> None:
    """Processes in the group, in other sessions and without an environment are all killed."""
    process = launch_ready(code)
    eventually(lambda: run_dir.spool.read_text().count("\n") == 5)
    pids = {int(line) for line in run_dir.spool.read_text().split()[1:]}
    kill_supervisor(process)
    if code is LEADER_EXITS:
        assert process.worker.wait(30)
    assert isinstance(observe(run_dir), Lost)
    assert isinstance(finish(run_dir, 0.2), Lost)
    assert pids.isdisjoint(stat.pid for stat in live_processes())


def test_the_supervisor_dies_during_termination(
    run_dir: RunDirectory, launch_ready: LaunchReady
) -> None:
    """A worker that kills its supervisor is killed, and the run is lost."""
    process = launch_ready(
        "import os, signal\n"
        "print('ready', flush=True)\n"
        "input()\n"
        "os.kill(os.getppid(), signal.SIGKILL)\n"
        "signal.pause()"
    )
    assert isinstance(terminate_worker(run_dir, grace=10), Lost)
    assert not process.worker.is_alive()


@pytest.mark.parametrize("change", ["start_ticks", "boot_id"])
def test_an_unrelated_process_with_the_pid_of_a_worker_is_not_killed(
    run_dir: RunDirectory, change: str
) -> None:
    """The recorded pid may have been reused by another process, which must not be signalled."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", IGNORES_COMMANDS],
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as unrelated:
        assert unrelated.stdout is not None
        unrelated.stdout.readline()
        identity = ProcessIdentity.of(unrelated.pid)
        assert identity is not None
        if change == "boot_id":
            record_start(run_dir, dataclasses.replace(identity, boot_id="another"))
        else:
            record_start(run_dir, dataclasses.replace(identity, start_ticks=1))
        assert isinstance(finalize_lost(run_dir, 0.1), Lost)
        assert isinstance(terminate_worker(run_dir, 0.1), Lost)
        assert unrelated.poll() is None
        unrelated.kill()


def test_an_unrelated_group_with_the_id_of_a_worker_is_not_killed(
    run_dir: RunDirectory, tmp_path: Path
) -> None:
    """The group id may have been reused by a group whose leader has exited."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", LEADERLESS],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        start_new_session=True,
    ) as leader:
        assert leader.stdout is not None
        unrelated = ProcessIdentity.of(int(leader.stdout.readline()))
    assert unrelated is not None
    record_start(run_dir, ProcessIdentity(leader.pid, 1, unrelated.boot_id))
    assert isinstance(finalize_lost(run_dir, 0.1), Lost)
    assert unrelated.is_alive()
    assert unrelated.send(signal.SIGKILL)


def test_a_leaderless_process_that_writes_to_the_spool_is_a_member(
    run_dir: RunDirectory, eventually: Eventually
) -> None:
    """Without a worker and an environment, the open spool identifies a process of the run."""
    run_dir.path.mkdir(parents=True)
    with (
        run_dir.spool.open("ab") as spool,
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LEADERLESS],
            stdout=spool,
            env={},
            cwd=run_dir.path,
            start_new_session=True,
        ) as leader,
    ):
        eventually(lambda: run_dir.spool.read_bytes().endswith(b"\n"))
    member = ProcessIdentity.of(int(run_dir.spool.read_bytes()))
    assert member is not None
    record_start(run_dir, ProcessIdentity(leader.pid, member.start_ticks, member.boot_id))
    assert isinstance(finalize_lost(run_dir, 10), Lost)
    assert not member.is_alive()


def test_another_run_with_the_same_name_is_not_a_member(
    run_dir: RunDirectory, launch_ready: LaunchReady
) -> None:
    """A process with the same run id but another run directory is not killed."""
    process = launch_ready(IGNORES_COMMANDS)
    environment = {
        **os.environ,
        RUN_ID_VARIABLE: run_dir.run_id,
        RUN_DIR_VARIABLE: str(run_dir.path.parent / "elsewhere" / run_dir.run_id),
    }
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", IGNORES_COMMANDS],
        stdout=subprocess.PIPE,
        env=environment,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        kill_supervisor(process)
        finalize_lost(run_dir, 10)
        assert not process.worker.is_alive()
        assert other.poll() is None
        other.kill()
