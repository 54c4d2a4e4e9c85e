"""A launched worker is independent of the launcher, and a failed launch has a reason."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mosaic.contract.control import Stop
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_identity import read_stat
from mosaic.trainer.processes.control_channel import send_command
from mosaic.trainer.processes.launcher import launch
from mosaic.trainer.processes.run_process import Exited, NotStarted, Running, observe
from mosaic.trainer.processes.run_termination import terminate_worker

pytestmark = pytest.mark.process

Eventually = Callable[[Callable[[], object]], None]
LaunchReady = Callable[[str], Running]
WaitForExit = Callable[[], Exited]

LAUNCHER = """
import signal, sys
from pathlib import Path
from mosaic.contract.layout import RunDirectory
from mosaic.trainer.processes.launcher import launch
launch(RunDirectory(Path(sys.argv[1])), sys.argv[2:])
print("launched", flush=True)
signal.pause()
"""
COUNTER = """
import sys
for number in range(300):
    if number == 100:
        print("waiting", file=sys.stderr, flush=True)
        input()
    print(number, flush=True)
sys.exit(7)
"""


def test_killing_the_launcher_does_not_affect_the_worker(
    run_dir: RunDirectory, exited: WaitForExit, eventually: Eventually
) -> None:
    """After SIGKILL of the launcher, the worker's output and exit code are still recorded."""
    worker = [sys.executable, "-I", "-S", "-c", COUNTER]
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, run_dir.path, *worker], stdout=subprocess.PIPE
    ) as launcher:
        assert launcher.stdout is not None
        assert launcher.stdout.readline() == b"launched\n"
        eventually(lambda: b"waiting" in run_dir.worker_log.read_bytes())
        launcher.kill()
    assert isinstance(observe(run_dir), Running)
    send_command(run_dir, Stop(seq=1))
    assert exited().exit.exit_code == 7
    assert run_dir.spool.read_text().split() == [str(number) for number in range(300)]


def test_the_environment_of_a_worker(run_dir: RunDirectory, exited: WaitForExit) -> None:
    """It has the run variables and defaults; variables set by the user take precedence."""
    code = "import os; print('\\n'.join(f'{k}={v}' for k, v in os.environ.items()))"
    given = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "4", "PYTHONUNBUFFERED": ""}
    launch(run_dir, [sys.executable, "-I", "-S", "-c", code], env=given)
    exited()
    environment = dict(line.split("=", 1) for line in run_dir.spool.read_text().splitlines())
    environment.pop("LC_CTYPE", None)  # Python's own, in a bare environment
    assert environment == {
        "PATH": os.environ["PATH"],
        "MOSAIC_RUN_ID": run_dir.run_id,
        "MOSAIC_RUN_DIR": str(run_dir.path),
        "PYTHONUNBUFFERED": "1",
        "SDL_NO_SIGNAL_HANDLERS": "1",
        "OMP_NUM_THREADS": "4",
        "MUJOCO_GL": "egl",
    }


def test_no_zombie_is_left(launch_ready: LaunchReady, eventually: Eventually) -> None:
    """The launcher reaps its supervisor, even after SIGKILL."""
    process = launch_ready("print('ready', flush=True); input()")
    assert process.supervisor.send(signal.SIGKILL)
    eventually(lambda: read_stat(process.supervisor.pid) is None)
    eventually(lambda: not process.worker.is_alive())


def test_the_supervisor_is_detached(launch_ready: LaunchReady, run_dir: RunDirectory) -> None:
    """It has its own session and inherits no terminal or pipe from the launcher."""
    process = launch_ready("print('ready', flush=True); input()")
    stat = read_stat(process.supervisor.pid)
    assert stat is not None
    assert stat.session == stat.group == stat.pid
    files = {file.readlink() for file in Path(f"/proc/{stat.pid}/fd").iterdir()}
    assert files == {
        Path("/dev/null"),
        run_dir.supervisor_folder,
        run_dir.supervisor_lock,
        run_dir.control,
        run_dir.spool,
        run_dir.worker_log,
    }
    terminate_worker(run_dir, grace=10)


def test_a_path_with_special_characters(tmp_path: Path, eventually: Eventually) -> None:
    """Any parent folder name works."""
    run_dir = RunDirectory(tmp_path / "mein Büro\n'\"$HOME; 研究 --" / "run")
    launch(run_dir, [sys.executable, "-I", "-S", "-c", "print('here')"])
    eventually(lambda: isinstance(observe(run_dir), Exited))
    assert run_dir.spool.read_text() == "here\n"


def test_a_program_is_found_on_the_path(run_dir: RunDirectory, exited: WaitForExit) -> None:
    """A program is looked up in PATH, and its arguments are passed unchanged."""
    launch(run_dir, ["echo", "$HOME", "a  b", "*"])
    exited()
    assert run_dir.spool.read_text() == "$HOME a  b *\n"


@pytest.mark.parametrize("argv", [[], [""], ["no-such-program"], ["/no/such/program"], ["/etc"]])
def test_a_missing_program_is_rejected(run_dir: RunDirectory, argv: list[str]) -> None:
    """No run directory is created."""
    with pytest.raises(UserError, match="does not exist or is not executable"):
        launch(run_dir, argv)
    assert not run_dir.path.exists()


def test_a_file_instead_of_the_run_directory(run_dir: RunDirectory) -> None:
    """The error has the reason."""
    run_dir.path.parent.mkdir()
    run_dir.path.touch()
    with pytest.raises(UserError, match="cannot be created: File exists"):
        launch(run_dir, ["true"])


@pytest.mark.parametrize(
    ("obstacle", "reason"),
    [
        ("telemetry.jsonl", "telemetry.jsonl: Is a directory"),
        ("worker.log", "worker.log: Is a directory"),
        ("supervisor.lock", "supervisor.lock: Is a directory"),
        ("control", "control: exists and is not a FIFO"),
        ("started.json.tmp", "started.json.tmp: Is a directory"),
    ],
)
def test_a_directory_with_the_name_of_a_file(
    run_dir: RunDirectory, obstacle: str, reason: str
) -> None:
    """The error names the file, and no worker is started."""
    is_record = obstacle in ("supervisor.lock", "started.json.tmp")
    folder = run_dir.supervisor_folder if is_record else run_dir.path
    (folder / obstacle).mkdir(parents=True)
    with pytest.raises(UserError, match=reason):
        launch(run_dir, ["true"])
    assert isinstance(observe(run_dir), NotStarted)


def test_a_run_is_started_once(run_dir: RunDirectory, launch_ready: LaunchReady) -> None:
    """A second launch is rejected and does not affect the first."""
    process = launch_ready("print('ready', flush=True); input()")
    with pytest.raises(UserError, match="Another supervisor controls this run"):
        launch(run_dir, ["true"])
    assert process.worker.is_alive()
    terminate_worker(run_dir, grace=10)
    with pytest.raises(UserError, match="started before"):
        launch(run_dir, ["true"])


def test_the_directory_is_private(run_dir: RunDirectory, exited: WaitForExit) -> None:
    """Only the owner can read a run directory."""
    launch(run_dir, ["true"])
    exited()
    assert run_dir.path.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o077 == 0 for file in run_dir.path.iterdir())
