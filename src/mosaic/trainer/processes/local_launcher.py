"""Starts a run's supervisor on this machine, detached, and says whether the worker runs."""

import os
import select
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.trainer.processes.run_ending import settle_lost
from mosaic.trainer.processes.run_process import Exited, Running, observe
from mosaic.trainer.processes.worker_environment import worker_environment

SUPERVISOR = Path(__file__).with_name("supervisor.py")
_START_LIMIT_S = 60.0


def launch(
    run_dir: RunDirectory, argv: Sequence[str], env: Mapping[str, str] | None = None
) -> Running | Exited:
    """Starts the worker `argv` (never a shell) for the run; `env` is its whole environment.

    Returns when the worker is recorded in the directory: from then on it needs neither this process
    nor any other of ours. `Exited` is a worker that ended, or could not be executed, already.
    Raises `UserError` when nothing was started. When interrupted, it ends what it has started.
    Safe from any thread.
    """
    environment = worker_environment(run_dir, os.environ if env is None else env)
    command = [_executable(argv, environment), *argv[1:]]
    _make_directory(run_dir)
    try:
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", SUPERVISOR, run_dir.path.absolute(), "--", *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        # Too many processes or files, no memory, or an environment of megabytes.
        raise _not_started(run_dir, error.strerror or str(error)) from error
    try:
        complaint = _read_until_started(supervisor)
    except BaseException:
        # Whoever interrupts the start does not want the run; this ends the worker too.
        supervisor.terminate()
        _reap_when_done(supervisor, run_dir.run_id)
        raise
    process = observe(run_dir)
    if isinstance(process, (Running, Exited)) and complaint == "":
        _reap_when_done(supervisor, run_dir.run_id)
        return process
    if complaint is None:
        supervisor.kill()
        complaint = f"nothing happened for {_START_LIMIT_S:.0f} s"
    supervisor.wait()
    settle_lost(run_dir)
    raise _not_started(run_dir, complaint or "its supervisor was killed")


def _executable(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """The program as an absolute path, because the worker's current folder is another one."""
    program = argv[0] if argv else ""
    found = shutil.which(program, path=environment.get("PATH"))
    if not found:
        raise UserError(
            f"The worker's program '{program}' does not exist or may not be executed.",
            remedy="Install the worker's bundle, or name a program that exists.",
            code="T110",
        )
    return str(Path(found).absolute())


def _make_directory(run_dir: RunDirectory) -> None:
    try:
        run_dir.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"The run's directory {run_dir.path} cannot be made: {error.strerror}.",
            remedy="Make its parent folder writable, or choose another home with --home.",
            code="T111",
        ) from error


def _read_until_started(supervisor: "subprocess.Popen[bytes]") -> str | None:
    """What it said before it let go of its output; None when it did not within the limit."""
    deadline = time.monotonic() + _START_LIMIT_S
    said = b""
    assert supervisor.stdout is not None  # noqa: S101 - it was asked for as a pipe
    with supervisor.stdout as output:
        poll = select.poll()
        poll.register(output, select.POLLIN)
        while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            part = os.read(output.fileno(), 65536)
            if not part:
                return said.decode(errors="replace").replace("[mosaic] ", "").strip()
            said += part
    return None


def _reap_when_done(supervisor: "subprocess.Popen[bytes]", run_id: str) -> None:
    """So that no zombie is left for as long as we live; nobody waits for this thread."""
    threading.Thread(target=supervisor.wait, name=f"reap {run_id}", daemon=True).start()


def _not_started(run_dir: RunDirectory, reason: str) -> UserError:
    return UserError(
        f"Run {run_dir.run_id} could not be started: {reason.rstrip('.')}.",
        remedy=f"See {run_dir.path}, remove the cause and start a new run.",
        code="T112",
    )
