"""Launcher: where the processes of runs live. On this machine now; elsewhere by the same calls.

All calls but `ended` block, and are safe from any thread. The run's directory is the truth: a
launcher holds nothing in memory that it could not find again after the daemon was killed.
"""

import asyncio
import errno
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Protocol

from mosaic.contract.control import ControlCommand
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.regular_files import open_regular
from mosaic.trainer.concurrency import in_thread
from mosaic.trainer.processes.control_channel import send_command
from mosaic.trainer.processes.local_launcher import launch
from mosaic.trainer.processes.process_identity import ProcessIdentity
from mosaic.trainer.processes.process_table import environment_of, read_stat
from mosaic.trainer.processes.run_ending import Grace, end_worker, settle_lost
from mosaic.trainer.processes.run_members import carriers_of, end_carriers
from mosaic.trainer.processes.run_process import Exited, Running, RunProcess, observe, signal_worker

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

    def send(self, run: RunDirectory, command: ControlCommand) -> None:
        """A control command, whole or not at all."""

    def signal(self, run: RunDirectory, number: signal.Signals) -> None:
        """A signal to the worker's whole group."""

    def end(self, run: RunDirectory, grace: Grace, stop_seq: int) -> RunProcess:
        """Stop, terminate, kill; returns with proof that nothing of the run is left."""

    def is_being_started(self, run: RunDirectory) -> bool:
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

    def end(self, run: RunDirectory, grace: Grace, stop_seq: int) -> RunProcess:
        return end_worker(run, grace, stop_seq=stop_seq)

    def is_being_started(self, run: RunDirectory) -> bool:
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
        process = await in_thread(self.status, run)
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
