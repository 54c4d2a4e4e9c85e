"""Launcher: where the processes of runs live. On this machine now; elsewhere by the same calls.

All calls but `ended` block, and are safe from any thread. The run's directory is the truth: a
launcher holds nothing in memory that it could not find again after the daemon was killed.
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

from mosaic.contract.control import Command
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.ordinary_files import open_ordinary
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.processes.control_channel import send_command
from mosaic.trainer.processes.process_environment import worker_environment
from mosaic.trainer.processes.process_identity import ProcessIdentity, environment_of, read_stat
from mosaic.trainer.processes.run_process import Exited, Running, RunProcess, observe, signal_worker
from mosaic.trainer.processes.run_termination import (
    Grace,
    carriers_of,
    end_carriers,
    end_worker,
    settle_lost,
)

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


_STOPPED_STATES = "Tt"
GPUS_VARIABLE = "MOSAIC_GPUS"
"""Which GPUs a worker was given, by our numbers: a daemon that takes the run up reads it."""


class Launcher(Protocol):
    """Starts one process per run, under a supervisor that records how it ends."""

    def start(
        self, run: RunDirectory, command: Sequence[str], environment: Mapping[str, str]
    ) -> Running | Exited:
        """Start the worker; never through a shell. `UserError` when nothing was started."""

    def status(self, run: RunDirectory) -> RunProcess:
        """What became of it."""

    def read(self, run: RunDirectory, offset: int, size: int) -> bytes:
        """What the worker has written to its telemetry from `offset` on."""

    def send(self, run: RunDirectory, command: Command) -> None:
        """A control command, whole or not at all."""

    def signal(self, run: RunDirectory, number: signal.Signals) -> None:
        """A signal to the worker's whole group."""

    def end(self, run: RunDirectory, grace: Grace, stop_seq: int) -> RunProcess:
        """Stop, terminate, kill; returns with proof that nothing of the run is left."""

    def is_starting(self, run: RunDirectory) -> bool:
        """Whether a process carries the run, be it one that has recorded nothing yet."""

    def end_unrecorded(self, run: RunDirectory) -> None:
        """End every process that carries the run, when no record says which they are."""

    def is_frozen(self, run: RunDirectory) -> bool:
        """Whether the worker was stopped by a signal, and waits for the one that wakes it."""

    def settle(self, run: RunDirectory) -> RunProcess:
        """End what is left of a run whose supervisor vanished; its state then."""

    def gpus_of(self, run: RunDirectory) -> tuple[int, ...]:
        """Which GPUs a running worker was given."""

    async def ended(self, run: RunDirectory) -> None:
        """Returns when the supervisor is gone."""


class LocalLauncher:
    """Runs on this machine."""

    def start(
        self, run: RunDirectory, command: Sequence[str], environment: Mapping[str, str]
    ) -> Running | Exited:
        return launch(run, command, environment)

    def status(self, run: RunDirectory) -> RunProcess:
        return observe(run)

    def read(self, run: RunDirectory, offset: int, size: int) -> bytes:
        try:
            spool = open_ordinary(run.spool, os.O_RDONLY)
        except FileNotFoundError:
            return b""
        try:
            return os.pread(spool, size, offset)
        finally:
            os.close(spool)

    def send(self, run: RunDirectory, command: Command) -> None:
        send_command(run, command)

    def signal(self, run: RunDirectory, number: signal.Signals) -> None:
        signal_worker(run, number)

    def end(self, run: RunDirectory, grace: Grace, stop_seq: int) -> RunProcess:
        return end_worker(run, grace, stop_seq=stop_seq)

    def is_starting(self, run: RunDirectory) -> bool:
        return bool(carriers_of(run))

    def end_unrecorded(self, run: RunDirectory) -> None:
        end_carriers(run)

    def is_frozen(self, run: RunDirectory) -> bool:
        process = observe(run)
        stat = read_stat(process.started.pid) if isinstance(process, Running) else None
        return stat is not None and stat.state in _STOPPED_STATES

    def settle(self, run: RunDirectory) -> RunProcess:
        return settle_lost(run)

    def gpus_of(self, run: RunDirectory) -> tuple[int, ...]:
        process = observe(run)
        if not isinstance(process, Running):
            return ()
        listed = environment_of(process.started.pid).get(GPUS_VARIABLE, "").split(",")
        return tuple(int(index) for index in listed if index.isdigit())

    async def ended(self, run: RunDirectory) -> None:
        process = await run_in_thread(self.status, run)
        if isinstance(process, Running):
            await _wait_for_end(process.supervisor)


async def _wait_for_end(process: ProcessIdentity) -> None:
    """Costs a file descriptor and no thread."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError as error:
        if error.errno in (errno.ESRCH, errno.EINVAL):
            return
        raise
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    try:
        if process.is_alive():
            loop.add_reader(handle, over.set)
            await over.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
