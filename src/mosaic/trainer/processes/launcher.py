"""RunLauncher: starts, observes and terminates the processes of runs.

`LocalLauncher` does so on this machine; other launchers implement the same protocol. All calls but
`wait_until_ended` block, and are safe from any thread. The state is in the run's directory: a
launcher has no state in memory that is lost when the daemon is killed.
"""

import asyncio
import errno
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from mosaic.contract.control import ControlCommand
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_identity import ProcessIdentity, environment_of, read_stat
from mosaic.contract.process_records import DamagedRecordError
from mosaic.contract.regular_files import open_regular
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.processes.child_processes import start_child
from mosaic.trainer.processes.control_channel import send_command
from mosaic.trainer.processes.process_environment import worker_environment
from mosaic.trainer.processes.run_cgroup import create_group, remove_group
from mosaic.trainer.processes.run_process import Exited, Running, RunProcess, observe, signal_worker
from mosaic.trainer.processes.run_termination import (
    Grace,
    finalize_lost,
    find_unrecorded_members,
    terminate_unrecorded_members,
    terminate_worker,
)

SUPERVISOR = Path(__file__).with_name("supervisor.py")
_START_TIMEOUT_S = 60.0


def launch(
    run_dir: RunDirectory, argv: Sequence[str], env: Mapping[str, str] | None = None
) -> Running | Exited:
    """Start the worker `argv` (never a shell) for the run; `env` is its complete environment.

    Returns when the worker is recorded in the directory: from then on it does not depend on this
    process. `Exited` is a worker that has already ended or could not be executed.
    Raises `UserError` when nothing was started. When interrupted, it terminates what it started.
    Safe from any thread.
    """
    environment = worker_environment(run_dir, os.environ if env is None else env)
    command = [_executable(argv, environment), *argv[1:]]
    _make_directory(run_dir)
    group = create_group(run_dir.run_id)
    try:
        supervisor = start_child(
            lambda: subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    SUPERVISOR,
                    run_dir.path.absolute(),
                    run_dir.records.absolute(),
                    *([group] if group else []),
                    "--",
                    *command,
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )
    except OSError as error:
        # Too many processes or files, no memory, or an environment of megabytes.
        raise _not_started(run_dir, error.strerror or str(error)) from error
    try:
        problem = _read_until_started(supervisor)
    except BaseException:
        # This terminates the worker too.
        supervisor.terminate()
        _reap_when_done(supervisor, run_dir.run_id)
        raise
    process = observe(run_dir)
    if isinstance(process, (Running, Exited)) and problem == "":
        _reap_when_done(supervisor, run_dir.run_id)
        return process
    if problem is None:
        supervisor.kill()
        problem = f"it did not start within {_START_TIMEOUT_S:.0f} s"
    supervisor.wait()
    finalize_lost(run_dir)
    if group:
        remove_group(group)
    raise _not_started(run_dir, problem or "its supervisor was killed")


def _executable(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """The program as an absolute path, because the worker has another current folder."""
    program = argv[0] if argv else ""
    found = shutil.which(program, path=environment.get("PATH"))
    if not found:
        raise UserError(
            f"The worker's program '{program}' does not exist or is not executable.",
            remedy="Install the worker's bundle, or correct the path.",
            code="T110",
        )
    return str(Path(found).absolute())


def _make_directory(run_dir: RunDirectory) -> None:
    try:
        run_dir.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (run_dir.started.exists() or run_dir.exit.exists()):
            run_dir.supervisor_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"The run's directory {run_dir.path} cannot be created: {error.strerror}.",
            remedy="Make its parent folder writable, or choose another home with --home.",
            code="T111",
        ) from error


def _read_until_started(supervisor: "subprocess.Popen[bytes]") -> str | None:
    """Return the supervisor's output until it closed it; None after the timeout."""
    deadline = time.monotonic() + _START_TIMEOUT_S
    output_bytes = b""
    assert supervisor.stdout is not None  # noqa: S101 - it was opened as a pipe
    with supervisor.stdout as output:
        poll = select.poll()
        poll.register(output, select.POLLIN)
        while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            chunk = os.read(output.fileno(), 65536)
            if not chunk:
                return output_bytes.decode(errors="replace").replace("[mosaic] ", "").strip()
            output_bytes += chunk
    return None


def _reap_when_done(supervisor: "subprocess.Popen[bytes]", run_id: str) -> None:
    """Reap it on a daemon thread, so that no zombie is left."""
    threading.Thread(target=supervisor.wait, name=f"reap {run_id}", daemon=True).start()


def _not_started(run_dir: RunDirectory, reason: str) -> UserError:
    return UserError(
        f"Run {run_dir.run_id} could not be started: {reason.rstrip('.')}.",
        remedy=f"See {run_dir.path}, remove the cause and start a new run.",
        code="T112",
    )


_STOPPED_STATES = "Tt"
GPUS_VARIABLE = "MOSAIC_GPUS"
"""The indexes of a worker's GPUs, which a daemon that reattaches to the run reads."""


class RunLauncher(Protocol):
    """Starts one process per run, under a supervisor that records its exit."""

    def start(
        self, run: RunDirectory, command: Sequence[str], environment: Mapping[str, str]
    ) -> Running | Exited:
        """Start the worker, without a shell. Raises `UserError` when nothing was started."""

    def status(self, run: RunDirectory) -> RunProcess:
        """The state of its process."""

    def read(self, run: RunDirectory, offset: int, size: int) -> bytes:
        """The worker's telemetry from `offset` on."""

    def send(self, run: RunDirectory, command: ControlCommand) -> None:
        """Send a control command, completely or not at all."""

    def signal(self, run: RunDirectory, number: signal.Signals) -> None:
        """Send a signal to the worker's process group."""

    def terminate(self, run: RunDirectory, grace: Grace, stop_seq: int) -> RunProcess:
        """Stop command, SIGTERM, SIGKILL; returns when no process of the run is left."""

    def is_starting(self, run: RunDirectory) -> bool:
        """Whether a process belongs to the run, including one that has no record yet."""

    def terminate_unrecorded(self, run: RunDirectory) -> None:
        """Terminate every process of the run, when no record identifies them."""

    def is_suspended(self, run: RunDirectory) -> bool:
        """Whether the worker was suspended by a signal."""

    def finalize(self, run: RunDirectory) -> RunProcess:
        """Terminate what is left of a run whose supervisor disappeared; returns its state."""

    def gpus_of(self, run: RunDirectory) -> tuple[int, ...]:
        """The indexes of the GPUs of a running worker."""

    async def wait_until_ended(self, run: RunDirectory) -> None:
        """Return when the supervisor has ended."""


class LocalLauncher:
    """Processes on this machine."""

    def start(
        self, run: RunDirectory, command: Sequence[str], environment: Mapping[str, str]
    ) -> Running | Exited:
        return launch(run, command, environment)

    def status(self, run: RunDirectory) -> RunProcess:
        return observe(run)

    def read(self, run: RunDirectory, offset: int, size: int) -> bytes:
        try:
            spool = open_regular(run.spool, os.O_RDONLY)
        except FileNotFoundError:
            return b""
        try:
            return os.pread(spool, size, offset)
        finally:
            os.close(spool)

    def send(self, run: RunDirectory, command: ControlCommand) -> None:
        send_command(run, command)

    def signal(self, run: RunDirectory, number: signal.Signals) -> None:
        signal_worker(run, number)

    def terminate(self, run: RunDirectory, grace: Grace, stop_seq: int) -> RunProcess:
        return terminate_worker(run, grace, stop_seq=stop_seq)

    def is_starting(self, run: RunDirectory) -> bool:
        return bool(find_unrecorded_members(run))

    def terminate_unrecorded(self, run: RunDirectory) -> None:
        terminate_unrecorded_members(run)

    def is_suspended(self, run: RunDirectory) -> bool:
        process = observe(run)
        stat = read_stat(process.started.pid) if isinstance(process, Running) else None
        return stat is not None and stat.state in _STOPPED_STATES

    def finalize(self, run: RunDirectory) -> RunProcess:
        return finalize_lost(run)

    def gpus_of(self, run: RunDirectory) -> tuple[int, ...]:
        process = observe(run)
        if not isinstance(process, Running):
            return ()
        listed = environment_of(process.started.pid).get(GPUS_VARIABLE, "").split(",")
        return tuple(int(index) for index in listed if index.isdigit())

    async def wait_until_ended(self, run: RunDirectory) -> None:
        try:
            process = await run_in_thread(self.status, run)
        except DamagedRecordError:
            return  # `finalize` looks for remaining processes
        if isinstance(process, Running):
            await _wait_for_end(process.supervisor)


async def _wait_for_end(process: ProcessIdentity) -> None:
    """Wait with a file descriptor in the event loop, without a thread."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError as error:
        if error.errno in (errno.ESRCH, errno.EINVAL):
            return
        raise
    loop = asyncio.get_running_loop()
    ended_event = asyncio.Event()
    try:
        if process.is_alive():
            loop.add_reader(handle, ended_event.set)
            await ended_event.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
