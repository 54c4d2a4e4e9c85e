"""The supervisor keeps a worker's lines and its exit, and leaves nothing behind."""

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
def stubborn():
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
                stubborn()
            stubborn()
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
    """A worker's exit code, lines and log are in its directory when it has ended."""
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
def test_a_death_by_signal_is_recorded(
    launch_code: LaunchCode, exited: WaitForExit, number: signal.Signals
) -> None:
    """A worker that a signal ended has the signal's number and name, and no exit code."""
    launch_code(f"import os; os.kill(os.getpid(), {int(number)})")
    record = exited().exit
    assert (record.exit_code, record.signal, record.signal_name) == (None, number, number.name)


def test_the_control_channel_goes_when_the_run_is_over(
    run_dir: RunDirectory, launch_ready: LaunchReady, eventually: Eventually
) -> None:
    """The FIFO is private while the run lasts, and removed after its end."""
    launch_ready("print('ready', flush=True); input()")
    mode = run_dir.control.stat().st_mode
    assert stat.S_ISFIFO(mode)
    assert stat.S_IMODE(mode) == 0o600
    terminate_worker(run_dir, grace=10)
    eventually(lambda: not run_dir.control.exists())


def test_the_worker_starts_from_a_clean_slate(
    run_dir: RunDirectory, launch_code: LaunchCode, exited: WaitForExit
) -> None:
    """It leads its own session, works in the run directory, inherits no file or signal mask."""
    launch_code(
        "import json, os, signal\n"
        "status = dict(l.split(':\\t', 1) for l in open('/proc/self/status') if ':\\t' in l)\n"
        "print(json.dumps({'leads': os.getpid() == os.getsid(0) == os.getpgid(0),\n"
        "  'cwd': os.getcwd(), 'files': os.listdir('/proc/self/fd'),\n"
        "  'blocked': int(status['SigBlk'], 16),\n"
        "  'control': os.readlink('/proc/self/fd/0'),\n"
        "  'hangup': signal.getsignal(signal.SIGHUP) == signal.SIG_DFL}))"
    )
    assert exited().exit.exit_code == 0
    written = json.loads(run_dir.spool.read_bytes())
    own_listing = 1
    assert written.pop("cwd") == str(run_dir.path)
    assert written.pop("control") == str(run_dir.control)
    assert len(written.pop("files")) == 3 + own_listing
    assert written == {"leads": True, "blocked": 0, "hangup": True}


def test_a_program_that_cannot_be_executed(run_dir: RunDirectory, tmp_path: Path) -> None:
    """A missing interpreter is reported in exit.json and in the log before launch returns."""
    script = tmp_path / "worker"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    process = launch(run_dir, [str(script)])
    assert isinstance(process, Exited)
    assert process.exit.exit_code == 127
    assert "interpreter in its first line" in str(process.exit.error)
    assert str(process.exit.error) in run_dir.worker_log.read_text()


@pytest.mark.parametrize(("mode", "code"), [(None, 127), (0o600, 126)])
def test_exec_failures_have_the_codes_of_a_shell(
    run_dir: RunDirectory, mode: int | None, code: int
) -> None:
    """127 for a program that is not there, 126 for one that may not be executed."""
    run_dir.path.mkdir(parents=True)
    program = run_dir.path / 'program "of" ü\n'
    if mode is not None:
        program.touch(mode)
    assert run_supervisor(run_dir.path, run_dir.path, "--", program).returncode == 0
    process = observe(run_dir)
    assert isinstance(process, Exited)
    assert process.exit.exit_code == code
    assert str(program) in str(process.exit.error)


def test_strays_are_ended(
    run_dir: RunDirectory, launch_code: LaunchCode, exited: WaitForExit
) -> None:
    """Double-forked processes that ignore SIGTERM, in sessions of their own too, do not survive."""
    launch_code(DOUBLE_FORK + "sys.exit(4)")
    record = exited().exit
    assert (record.exit_code, record.strays_left) == (4, 0)
    assert record.strays_ended == 6
    strays = {int(line) for line in run_dir.spool.read_text().split()}
    assert strays.isdisjoint(process.pid for process in live_processes())


def test_a_stray_may_finish_on_its_own(
    run_dir: RunDirectory, launch_code: LaunchCode, exited: WaitForExit
) -> None:
    """A child that ends right after its parent is let be, and its last line is in the spool."""
    launch_code(
        "import os\n"
        "gone, alive = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.close(alive)\n"
        "    os.read(gone, 1)\n"
        "    print('last words', flush=True)"
    )
    assert exited().exit.strays_ended == 0
    assert run_dir.spool.read_bytes() == b"last words\n"


def test_a_stray_that_cannot_be_ended_does_not_hold_the_exit_back(
    run_dir: RunDirectory, eventually: Eventually
) -> None:
    """When patience runs out the exit is recorded anyway, with the number that is left."""
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


def test_killing_the_whole_group_keeps_the_exit(
    launch_ready: LaunchReady, exited: WaitForExit
) -> None:
    """SIGKILL to the worker's group does not reach the supervisor, which records it."""
    process = launch_ready("import os; os.fork(); print('ready', flush=True); input()")
    os.killpg(process.worker.pid, signal.SIGKILL)
    assert exited().exit.signal == signal.SIGKILL


def test_sigterm_to_the_supervisor_reaches_the_worker(
    run_dir: RunDirectory, launch_ready: LaunchReady, exited: WaitForExit, eventually: Eventually
) -> None:
    """The supervisor passes SIGTERM on, even to a stopped worker, and stays for the exit code."""
    process = launch_ready(
        "import signal, sys\n"
        "def end(*_):\n"
        "    print('told', flush=True)\n"
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
    assert b"told" in run_dir.spool.read_bytes()
    eventually(lambda: not process.supervisor.is_alive())


def test_a_second_supervisor_is_rejected(run_dir: RunDirectory, launch_ready: LaunchReady) -> None:
    """A directory has one supervisor in its life: not two at once, nor one after the other."""
    launch_ready("print('ready', flush=True); input()")
    command: list[str | Path] = [run_dir.path, run_dir.records, "--", "echo", "second"]
    at_once = run_supervisor(*command)
    assert at_once.returncode == 2
    assert "Another supervisor" in at_once.stderr
    terminate_worker(run_dir, grace=10)
    before = run_dir.exit.read_bytes()
    afterwards = run_supervisor(*command)
    assert afterwards.returncode == 2
    assert "started before" in afterwards.stderr
    assert run_dir.exit.read_bytes() == before
    assert b"second" not in run_dir.spool.read_bytes()


def test_a_worker_that_cannot_be_recorded_never_runs(run_dir: RunDirectory, tmp_path: Path) -> None:
    """If started.json cannot be written, the worker ends before its first instruction."""
    run_dir.path.mkdir(parents=True)
    run_dir.started.with_name("started.json.tmp").mkdir()
    trace = tmp_path / "it ran"
    result = run_supervisor(run_dir.path, run_dir.path, "--", "/bin/sh", "-c", f"touch '{trace}'")
    assert result.returncode == 1
    assert "started.json.tmp: Is a directory" in result.stderr
    assert isinstance(observe(run_dir), NotStarted)
    assert not trace.exists()


def test_kill_the_supervisor_at_any_moment(
    run_dir: RunDirectory, eventually: Eventually, tmp_path: Path
) -> None:
    """Whenever it is killed: either no worker ran, or it is on record and can be settled."""
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
        eventually(lambda directory=directory: not list(working_in(directory)))  # type: ignore[misc]
        assert not (isinstance(process, NotStarted) and trace.exists())
    assert "lost" in seen


def working_in(directory: RunDirectory) -> list[int]:
    found = []
    for process in live_processes():
        try:
            if Path(f"/proc/{process.pid}/cwd").readlink() == directory.path:
                found.append(process.pid)
        except OSError:
            continue
    return found


def test_an_exit_that_cannot_be_written_is_kept_until_it_can(
    run_dir: RunDirectory, exited: WaitForExit, launch_code: LaunchCode, eventually: Eventually
) -> None:
    """A folder named exit.json.tmp delays the exit record, which is written later."""
    obstacle = run_dir.supervisor_folder / "exit.json.tmp"
    obstacle.mkdir(parents=True)
    launch_code("raise SystemExit(5)")
    eventually(lambda: "cannot be recorded yet" in run_dir.worker_log.read_text())
    assert isinstance(observe(run_dir), Running)
    obstacle.rmdir()
    assert exited().exit.exit_code == 5


def test_a_deleted_directory_does_not_keep_the_supervisor(
    run_dir: RunDirectory, launch_ready: LaunchReady, eventually: Eventually
) -> None:
    """Without the run's directory the supervisor ends, too."""
    process = launch_ready("import signal; print('ready', flush=True); signal.pause()")
    for folder in (run_dir.supervisor_folder, run_dir.path):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    assert process.worker.send(signal.SIGKILL)
    eventually(lambda: not process.supervisor.is_alive())


def test_the_home_may_be_moved_while_the_run_lasts(
    tmp_path: Path, run_dir: RunDirectory, launch_ready: LaunchReady, eventually: Eventually
) -> None:
    """The exit is recorded where the home is by then."""
    process = launch_ready("import signal; print('ready', flush=True); signal.pause()")
    moved = RunDirectory(tmp_path / "moved" / "runs" / run_dir.run_id)
    moved.path.parent.parent.mkdir()
    run_dir.path.parent.rename(moved.path.parent)
    run_dir.supervisor_folder.parent.rename(moved.supervisor_folder.parent)
    assert process.worker.send(signal.SIGTERM)
    eventually(lambda: isinstance(observe(moved), Exited))


@pytest.mark.parametrize("arguments", [[], ["somewhere"], ["somewhere", "--"], ["a", "b", "c"]])
def test_wrong_use(arguments: list[str]) -> None:
    """Without a directory and a command the supervisor says how it is used."""
    result = run_supervisor(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "usage" in result.stderr


def test_memory(launch_ready: LaunchReady, run_dir: RunDirectory) -> None:
    """A supervisor takes 12 MB or less."""
    process = launch_ready("print('ready', flush=True); input()")
    status = Path(f"/proc/{process.supervisor.pid}/status").read_text()
    (rss_kib,) = (int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)
    assert rss_kib * 1024 <= 12_000_000
    terminate_worker(run_dir, grace=10)


@pytest.mark.parametrize(("record", "name"), [(StartedRecord, "started"), (ExitRecord, "exit")])
def test_what_is_written_is_what_is_declared(
    run_dir: RunDirectory,
    launch_code: LaunchCode,
    exited: WaitForExit,
    record: type[ProcessRecord],
    name: str,
) -> None:
    """The supervisor's records have exactly the fields of the structs that read them."""
    launch_code("pass")
    exited()
    path = run_dir.supervisor_folder / f"{name}.json"
    assert set(json.loads(path.read_bytes())) == {
        field.name for field in msgspec.structs.fields(record)
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_secrets_of_the_environment_are_on_no_record(
    run_dir: RunDirectory, eventually: Eventually
) -> None:
    """The worker gets its environment; neither its values nor its arguments are written down."""
    code = "import os; print(os.environ['API_KEY'] == 'hidden-value', flush=True); input()"
    argv = [sys.executable, "-c", code, "hidden-argument"]
    launch(run_dir, argv, env={**os.environ, "API_KEY": "hidden-value"})
    eventually(lambda: run_dir.spool.read_bytes() == b"True\n")
    terminate_worker(run_dir, grace=10)
    for file in (*run_dir.path.iterdir(), *run_dir.records.iterdir()):
        assert b"hidden" not in file.read_bytes()
