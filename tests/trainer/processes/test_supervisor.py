"""The supervisor stores a worker's output and exit status and leaves no process behind."""

import json
import os
import random
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_identity import live_processes
from mosaic.contract.process_records import ExitRecord, ProcessRecord, StartedRecord
from mosaic.trainer.processes.launcher import SUPERVISOR, launch
from mosaic.trainer.processes.run_process import Exited, NotStarted, Running, observe
from mosaic.trainer.processes.run_termination import finalize_lost, terminate_worker

pytestmark = pytest.mark.process

Eventually = Callable[[Callable[[], object]], None]
LaunchCode = Callable[[str], Running | Exited]
LaunchReady = Callable[[str], Running]
WaitForExit = Callable[[], Exited]

MIB = 1 << 20

DOUBLE_FORK = """
import os, signal, sys
def ignore_sigterm():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), flush=True)
    while True:
        signal.pause()
for own_session in (True, False, True):
    if os.fork() == 0:
        if own_session:
            os.setsid()
        if os.fork() == 0:
            if os.fork() == 0:
                ignore_sigterm()
            ignore_sigterm()
        os._exit(0)
    os.wait()
"""


def run_supervisor(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-I", "-S", SUPERVISOR, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_exit_code_is_recorded(
    run_dir: RunDirectory, launch_code: LaunchCode, exited: WaitForExit, code: int
) -> None:
    """The exit code, the telemetry lines and the log are in the run directory after the exit."""
    launch_code(f"import sys; print('one'); print('two', file=sys.stderr); sys.exit({code})")
    record = exited().exit
    assert (record.exit_code, record.signal, record.error) == (code, None, None)
    assert record.strays_ended == record.strays_left == 0
    assert record.max_rss_bytes > MIB
    assert record.cpu_s > 0
    assert record.duration_s > 0
    assert run_dir.spool.read_bytes() == b"one\n"
    assert run_dir.worker_log.read_bytes() == b"two\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_terminating_signal_is_recorded(
    launch_code: LaunchCode, exited: WaitForExit, number: signal.Signals
) -> None:
    """A worker killed by a signal has the signal's number and name, and no exit code."""
    launch_code(f"import os; os.kill(os.getpid(), {int(number)})")
    record = exited().exit
    assert (record.exit_code, record.signal, record.signal_name) == (None, number, number.name)


def test_the_control_channel_is_removed_after_the_run(
    run_dir: RunDirectory, launch_ready: LaunchReady, eventually: Eventually
) -> None:
    """The FIFO is private while the run is active and is removed when it ends."""
    launch_ready("print('ready', flush=True); input()")
    mode = run_dir.control.stat().st_mode
    assert stat.S_ISFIFO(mode)
    assert stat.S_IMODE(mode) == 0o600
    terminate_worker(run_dir, grace=10)
    eventually(lambda: not run_dir.control.exists())


def test_the_worker_inherits_no_process_state(
    run_dir: RunDirectory, launch_code: LaunchCode, exited: WaitForExit
) -> None:
    """It has its own session, runs in the run directory and inherits no file or signal mask."""
    launch_code(
        "import json, os, signal\n"
        "status = dict(l.split(':\\t', 1) for l in open('/proc/self/status') if ':\\t' in l)\n"
        "print(json.dumps({'is_leader': os.getpid() == os.getsid(0) == os.getpgid(0),\n"
        "  'cwd': os.getcwd(), 'files': os.listdir('/proc/self/fd'),\n"
        "  'blocked': int(status['SigBlk'], 16),\n"
        "  'control': os.readlink('/proc/self/fd/0'),\n"
        "  'default_sighup': signal.getsignal(signal.SIGHUP) == signal.SIG_DFL}))"
    )
    assert exited().exit.exit_code == 0
    written = json.loads(run_dir.spool.read_bytes())
    listing_fd = 1
    assert written.pop("cwd") == str(run_dir.path)
    assert written.pop("control") == str(run_dir.control)
    assert len(written.pop("files")) == 3 + listing_fd
    assert written == {"is_leader": True, "blocked": 0, "default_sighup": True}


def test_a_program_that_cannot_be_executed(run_dir: RunDirectory, tmp_path: Path) -> None:
    """A missing interpreter is recorded in exit.json and in the log before `launch` returns."""
    script = tmp_path / "worker"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    process = launch(run_dir, [str(script)])
    assert isinstance(process, Exited)
    assert process.exit.exit_code == 127
    assert "interpreter in its first line" in str(process.exit.error)
    assert str(process.exit.error) in run_dir.worker_log.read_text()


@pytest.mark.parametrize(("mode", "code"), [(None, 127), (0o600, 126)])
def test_exec_failures_use_shell_exit_codes(
    run_dir: RunDirectory, mode: int | None, code: int
) -> None:
    """127 for a missing program, 126 for one that is not executable."""
    run_dir.path.mkdir(parents=True)
    program = run_dir.path / 'program "of" ü\n'
    if mode is not None:
        program.touch(mode)
    assert run_supervisor(run_dir.path, run_dir.path, "--", program).returncode == 0
    process = observe(run_dir)
    assert isinstance(process, Exited)
    assert process.exit.exit_code == code
    assert str(program) in str(process.exit.error)


def test_stray_processes_are_killed(
    run_dir: RunDirectory, launch_code: LaunchCode, exited: WaitForExit
) -> None:
    """Double-forked processes that ignore SIGTERM are killed, including those in new sessions."""
    launch_code(DOUBLE_FORK + "sys.exit(4)")
    record = exited().exit
    assert (record.exit_code, record.strays_left) == (4, 0)
    assert record.strays_ended == 6
    strays = {int(line) for line in run_dir.spool.read_text().split()}
    assert strays.isdisjoint(process.pid for process in live_processes())


def test_a_stray_process_may_exit_normally(
    run_dir: RunDirectory, launch_code: LaunchCode, exited: WaitForExit
) -> None:
    """A child that exits right after its parent is not killed; its last line is in the spool."""
    launch_code(
        "import os\n"
        "read_end, write_end = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.close(write_end)\n"
        "    os.read(read_end, 1)\n"
        "    print('last line', flush=True)"
    )
    assert exited().exit.strays_ended == 0
    assert run_dir.spool.read_bytes() == b"last line\n"


def test_an_unkillable_stray_process_does_not_block_the_exit_record(
    run_dir: RunDirectory, eventually: Eventually
) -> None:
    """After the timeout the exit is recorded with the number of remaining processes."""
    run_dir.path.mkdir(parents=True)
    without_kill = (
        "import importlib.util, signal, sys\n"
        "spec = importlib.util.spec_from_file_location('supervisor', sys.argv[1])\n"
        "supervisor = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(supervisor)\n"
        "supervisor.STRAY_STEPS = ((0.1, None), (0.1, signal.SIGTERM))\n"
        "sys.exit(supervisor.main(sys.argv[2:]))"
    )
    command = [sys.executable, "-I", "-S", "-c", DOUBLE_FORK]
    arguments: list[str | Path] = [SUPERVISOR, run_dir.path, run_dir.path, "--", *command]
    subprocess.run([sys.executable, "-c", without_kill, *arguments], check=True)
    process = observe(run_dir)
    assert isinstance(process, Exited)
    assert process.exit.strays_left > 0
    strays = [int(line) for line in run_dir.spool.read_text().split()]
    for stray in strays:
        os.kill(stray, signal.SIGKILL)
    eventually(lambda: {p.pid for p in live_processes()}.isdisjoint(strays))


def test_killing_the_process_group_still_records_the_exit(
    launch_ready: LaunchReady, exited: WaitForExit
) -> None:
    """SIGKILL to the worker's group does not reach the supervisor, which records the signal."""
    process = launch_ready("import os; os.fork(); print('ready', flush=True); input()")
    os.killpg(process.worker.pid, signal.SIGKILL)
    assert exited().exit.signal == signal.SIGKILL


def test_sigterm_to_the_supervisor_reaches_the_worker(
    run_dir: RunDirectory, launch_ready: LaunchReady, exited: WaitForExit, eventually: Eventually
) -> None:
    """The supervisor forwards SIGTERM, even to a stopped worker, and records the exit code."""
    process = launch_ready(
        "import signal, sys\n"
        "def end(*_):\n"
        "    print('terminated', flush=True)\n"
        "    sys.exit(9)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print('ready', flush=True)\n"
        "signal.pause()"
    )
    os.kill(process.worker.pid, signal.SIGSTOP)
    for ignored in (signal.SIGINT, signal.SIGHUP):
        assert process.supervisor.send(ignored)
    assert process.supervisor.send(signal.SIGTERM)
    assert exited().exit.exit_code == 9
    assert b"terminated" in run_dir.spool.read_bytes()
    eventually(lambda: not process.supervisor.is_alive())


def test_a_second_supervisor_is_rejected(run_dir: RunDirectory, launch_ready: LaunchReady) -> None:
    """A run directory accepts one supervisor, neither a concurrent nor a later second one."""
    launch_ready("print('ready', flush=True); input()")
    command: list[str | Path] = [run_dir.path, run_dir.records, "--", "echo", "second"]
    concurrent = run_supervisor(*command)
    assert concurrent.returncode == 2
    assert "Another supervisor" in concurrent.stderr
    terminate_worker(run_dir, grace=10)
    before = run_dir.exit.read_bytes()
    later = run_supervisor(*command)
    assert later.returncode == 2
    assert "started before" in later.stderr
    assert run_dir.exit.read_bytes() == before
    assert b"second" not in run_dir.spool.read_bytes()


def test_a_worker_that_cannot_be_recorded_never_runs(run_dir: RunDirectory, tmp_path: Path) -> None:
    """If started.json cannot be written, the worker ends before its first instruction."""
    run_dir.path.mkdir(parents=True)
    run_dir.started.with_name("started.json.tmp").mkdir()
    trace = tmp_path / "trace"
    result = run_supervisor(run_dir.path, run_dir.path, "--", "/bin/sh", "-c", f"touch '{trace}'")
    assert result.returncode == 1
    assert "started.json.tmp: Is a directory" in result.stderr
    assert isinstance(observe(run_dir), NotStarted)
    assert not trace.exists()


def test_kill_the_supervisor_at_any_time(
    run_dir: RunDirectory, eventually: Eventually, tmp_path: Path
) -> None:
    """After a kill at any time, either no worker ran or it is recorded and can be finalized."""
    seen = set()
    for attempt in range(25):
        directory = RunDirectory(run_dir.path.parent / f"{attempt}")
        directory.path.mkdir(parents=True)
        trace = tmp_path / f"trace {attempt}"
        supervisor = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", SUPERVISOR, directory.path, directory.path, "--"),
                *("/bin/sh", "-c", f"echo > '{trace}'; read line"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if attempt % 5:
            with pytest.raises(subprocess.TimeoutExpired):
                supervisor.wait(random.uniform(0, 0.08))
        else:
            eventually(trace.exists)
        supervisor.kill()
        supervisor.wait()
        process = finalize_lost(directory)
        seen.add(process.state)
        assert not isinstance(process, Running)
        eventually(lambda directory=directory: not list(pids_with_cwd(directory)))  # type: ignore[misc]
        assert not (isinstance(process, NotStarted) and trace.exists())
    assert "lost" in seen


def pids_with_cwd(directory: RunDirectory) -> list[int]:
    pids = []
    for process in live_processes():
        try:
            if Path(f"/proc/{process.pid}/cwd").readlink() == directory.path:
                pids.append(process.pid)
        except OSError:
            continue
    return pids


def test_writing_the_exit_record_is_retried(
    run_dir: RunDirectory, exited: WaitForExit, launch_code: LaunchCode, eventually: Eventually
) -> None:
    """A folder named exit.json.tmp delays the exit record; it is written once that is removed."""
    obstacle = run_dir.supervisor_folder / "exit.json.tmp"
    obstacle.mkdir(parents=True)
    launch_code("raise SystemExit(5)")
    eventually(lambda: "cannot be recorded yet" in run_dir.worker_log.read_text())
    assert isinstance(observe(run_dir), Running)
    obstacle.rmdir()
    assert exited().exit.exit_code == 5


def test_the_supervisor_exits_if_the_run_directory_is_deleted(
    run_dir: RunDirectory, launch_ready: LaunchReady, eventually: Eventually
) -> None:
    """The supervisor exits after its worker although it cannot write an exit record."""
    process = launch_ready("import signal; print('ready', flush=True); signal.pause()")
    for folder in (run_dir.supervisor_folder, run_dir.path):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    assert process.worker.send(signal.SIGKILL)
    eventually(lambda: not process.supervisor.is_alive())


def test_the_home_can_be_moved_during_a_run(
    tmp_path: Path, run_dir: RunDirectory, launch_ready: LaunchReady, eventually: Eventually
) -> None:
    """The exit is recorded in the new location."""
    process = launch_ready("import signal; print('ready', flush=True); signal.pause()")
    moved = RunDirectory(tmp_path / "moved" / "runs" / run_dir.run_id)
    moved.path.parent.parent.mkdir()
    run_dir.path.parent.rename(moved.path.parent)
    run_dir.supervisor_folder.parent.rename(moved.supervisor_folder.parent)
    assert process.worker.send(signal.SIGTERM)
    eventually(lambda: isinstance(observe(moved), Exited))


@pytest.mark.parametrize("arguments", [[], ["somewhere"], ["somewhere", "--"], ["a", "b", "c"]])
def test_invalid_arguments(arguments: list[str]) -> None:
    """Without a directory and a command the supervisor prints its usage."""
    result = run_supervisor(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "usage" in result.stderr


def test_memory_usage(launch_ready: LaunchReady, run_dir: RunDirectory) -> None:
    """A supervisor uses at most 12 MB."""
    process = launch_ready("print('ready', flush=True); input()")
    status = Path(f"/proc/{process.supervisor.pid}/status").read_text()
    (rss_kib,) = (int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)
    assert rss_kib * 1024 <= 12_000_000
    terminate_worker(run_dir, grace=10)


@pytest.mark.parametrize(("record", "name"), [(StartedRecord, "started"), (ExitRecord, "exit")])
def test_records_match_their_structs(
    run_dir: RunDirectory,
    launch_code: LaunchCode,
    exited: WaitForExit,
    record: type[ProcessRecord],
    name: str,
) -> None:
    """The supervisor's records have exactly the fields of the structs that decode them."""
    launch_code("pass")
    exited()
    path = run_dir.supervisor_folder / f"{name}.json"
    assert set(json.loads(path.read_bytes())) == {
        field.name for field in msgspec.structs.fields(record)
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_environment_secrets_are_not_recorded(
    run_dir: RunDirectory, eventually: Eventually
) -> None:
    """The worker gets its environment; neither its values nor its arguments are recorded."""
    code = "import os; print(os.environ['API_KEY'] == 'hidden-value', flush=True); input()"
    argv = [sys.executable, "-c", code, "hidden-argument"]
    launch(run_dir, argv, env={**os.environ, "API_KEY": "hidden-value"})
    eventually(lambda: run_dir.spool.read_bytes() == b"True\n")
    terminate_worker(run_dir, grace=10)
    for file in (*run_dir.path.iterdir(), *run_dir.records.iterdir()):
        assert b"hidden" not in file.read_bytes()
