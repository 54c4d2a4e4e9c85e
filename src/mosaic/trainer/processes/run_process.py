"""What became of a run's process, read from its directory alone; and signals to it."""

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_records import ExitRecord, StartedRecord
from mosaic.trainer.processes.process_identity import ProcessIdentity


@contextmanager
def supervisor_absence(run_dir: RunDirectory) -> Iterator[bool]:
    """Whether no supervisor holds the run. If so, none can take hold of it meanwhile.

    Only to be asked of a run that was started: a supervisor that is just starting must find its
    lock free. Any number of processes may ask at once.
    """
    try:
        lock = os.open(run_dir.supervisor_lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield True
        return
    try:
        yield _is_free(lock)
    finally:
        # Explicitly, because a process that is being forked meanwhile has a copy of the descriptor.
        fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)


def _is_free(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class ProcessState(StrEnum):
    NOT_STARTED = "not_started"
    RUNNING = "running"
    EXITED = "exited"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class NotStarted:
    """No worker was ever started here, so one may be."""

    state = ProcessState.NOT_STARTED


@dataclass(frozen=True, slots=True)
class Running:
    """The supervisor lives and will record how the worker ends."""

    started: StartedRecord
    state = ProcessState.RUNNING

    @property
    def worker(self) -> ProcessIdentity:
        return worker_of(self.started)

    @property
    def supervisor(self) -> ProcessIdentity:
        stamp = self.started.supervisor
        return ProcessIdentity(stamp.pid, stamp.start_ticks, self.started.boot_id)


@dataclass(frozen=True, slots=True)
class Exited:
    """The worker ended, and what it wrote is complete."""

    exit: ExitRecord
    state = ProcessState.EXITED


@dataclass(frozen=True, slots=True)
class Lost:
    """The supervisor vanished without an exit record. The worker may still live: settle it."""

    started: StartedRecord
    state = ProcessState.LOST


RunProcess = NotStarted | Running | Exited | Lost


def worker_of(started: StartedRecord) -> ProcessIdentity:
    return ProcessIdentity(started.pid, started.start_ticks, started.boot_id)


def observe(run_dir: RunDirectory) -> RunProcess:
    """The state of the run's process now."""
    exit_record = ExitRecord.read(run_dir.exit)
    if exit_record is not None:
        return Exited(exit_record)
    started = StartedRecord.read(run_dir.started)
    if started is None:
        return NotStarted()
    with supervisor_absence(run_dir) as absent:
        if not absent:
            return Running(started)
    # It may have recorded the exit and left between the first look and the lock.
    exit_record = ExitRecord.read(run_dir.exit)
    return Lost(started) if exit_record is None else Exited(exit_record)


def signal_worker(run_dir: RunDirectory, number: signal.Signals) -> None:
    """Signals the worker's whole group; SIGSTOP and SIGCONT pause any worker."""
    process = observe(run_dir)
    if not (isinstance(process, Running) and process.worker.send_to_group(number)):
        raise UserError(
            f"Run {run_dir.run_id} has no running process: it is {process.state}.",
            remedy="Only a running run can be paused or resumed.",
            code="T120",
        )
