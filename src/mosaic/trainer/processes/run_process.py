"""The state of a run's process, read from its directory alone; and signals to it."""

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_identity import ProcessIdentity
from mosaic.contract.process_records import ExitRecord, StartedRecord
from mosaic.contract.regular_files import NotRegularFileError, open_regular


@contextmanager
def supervisor_absence(run_dir: RunDirectory) -> Iterator[bool]:
    """Whether no supervisor holds the run's lock. If so, none can take it during the block.

    Use it only for a run that was started: a starting supervisor must find its lock free. Any
    number of processes may check at once. A lock that was removed or replaced counts as free.
    """
    try:
        lock = open_regular(run_dir.supervisor_lock)
    except (FileNotFoundError, NotRegularFileError):
        yield True
        return
    try:
        yield _is_free(lock)
    finally:
        # Explicitly, because a process forked in the meantime has a copy of the descriptor.
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
    """No worker was started in this directory yet."""

    state = ProcessState.NOT_STARTED


@dataclass(frozen=True, slots=True)
class Running:
    """The supervisor is alive and will record the worker's exit."""

    started: StartedRecord
    state = ProcessState.RUNNING

    @property
    def worker(self) -> ProcessIdentity:
        return worker_of(self.started)

    @property
    def supervisor(self) -> ProcessIdentity:
        supervisor_record = self.started.supervisor
        return ProcessIdentity(
            supervisor_record.pid, supervisor_record.start_ticks, self.started.boot_id
        )


@dataclass(frozen=True, slots=True)
class Exited:
    """The worker has ended, and its output is complete."""

    exit: ExitRecord
    state = ProcessState.EXITED


@dataclass(frozen=True, slots=True)
class Lost:
    """The supervisor disappeared without an exit record. The worker may still be alive."""

    started: StartedRecord | None
    """None when its records are damaged."""
    problem: str = ""
    """What is wrong with its records."""
    is_end_proven: bool = False
    """Whether none of its processes can be alive, not even one that cannot be recognised."""
    state = ProcessState.LOST


RunProcess = NotStarted | Running | Exited | Lost


def worker_of(started: StartedRecord) -> ProcessIdentity:
    return ProcessIdentity(started.pid, started.start_ticks, started.boot_id)


def observe(run_dir: RunDirectory) -> RunProcess:
    """The state of the run's process now. Raises `DamagedRecordError`.

    A supervisor is alive if it holds its lock or if its process exists: a worker that removes the
    lock does not make a living supervisor disappear.
    """
    exit_record = ExitRecord.read(run_dir.exit)
    if exit_record is not None:
        return Exited(exit_record)
    started = StartedRecord.read(run_dir.started)
    if started is None:
        return NotStarted()
    running = Running(started)
    with supervisor_absence(run_dir) as absent:
        if not absent or running.supervisor.is_alive():
            return running
    # It may have recorded the exit and ended between the first read and the lock.
    exit_record = ExitRecord.read(run_dir.exit)
    return Lost(started) if exit_record is None else Exited(exit_record)


def signal_worker(run_dir: RunDirectory, number: signal.Signals) -> None:
    """Signal the worker's process group; SIGSTOP and SIGCONT pause and resume any worker."""
    process = observe(run_dir)
    if not (isinstance(process, Running) and process.worker.send_to_group(number)):
        raise UserError(
            f"Run {run_dir.run_id} has no running process: it is {process.state}.",
            remedy="Only a running run can be paused or resumed.",
            code="T120",
        )
