"""Terminating a run's worker, and proving that none of its processes is left."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mosaic.contract.control import Stop
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RUN_DIR_VARIABLE, RUN_ID_VARIABLE, RunDirectory
from mosaic.contract.process_identity import (
    ProcessIdentity,
    ProcessStat,
    boot_id,
    environment_of,
    live_processes,
    output_files_of,
    read_stat,
)
from mosaic.contract.process_records import DamagedRecordError, StartedRecord
from mosaic.trainer.processes.child_processes import adopts_orphans_of, end_adopted
from mosaic.trainer.processes.control_channel import send_command
from mosaic.trainer.processes.run_cgroup import pids_in_group, remove_group
from mosaic.trainer.processes.run_process import (
    Lost,
    Running,
    RunProcess,
    observe,
    supervisor_absence,
)

_KILL_TIMEOUT_S = 10.0
_POLL_S = 0.05


def find_members(run_dir: RunDirectory, started: StartedRecord) -> set[ProcessIdentity]:
    """Return all processes of the run, never one that has a reused pid.

    Those in the run's control group; those with the run in their environment, in any session; and
    those in the worker's session and group, as long as the worker has that pid or they write to the
    run's files.
    The supervisor and the calling process are not members.
    """
    if started.boot_id != boot_id():
        return set()
    leader = read_stat(started.pid)
    is_same_leader = leader is not None and leader.start_ticks == started.start_ticks
    supervisor_record = started.supervisor
    in_cgroup = pids_in_group(Path(started.cgroup)) if started.cgroup else set()
    living = {
        ProcessIdentity(stat.pid, stat.start_ticks, started.boot_id)
        for stat in live_processes()
        if stat.pid in in_cgroup
        or _has_run_in_environment(run_dir, stat.pid)
        or (_is_in_group(stat, started.pid) and (is_same_leader or _writes_to(run_dir, stat.pid)))
    }
    supervisor = ProcessIdentity(
        supervisor_record.pid, supervisor_record.start_ticks, started.boot_id
    )
    return {member for member in living - {supervisor} if member.pid != os.getpid()}


def find_unrecorded_members(run_dir: RunDirectory) -> set[ProcessIdentity]:
    """Return all processes with the run in their environment, including its supervisor."""
    return {
        ProcessIdentity(stat.pid, stat.start_ticks, boot_id())
        for stat in live_processes()
        if stat.pid != os.getpid() and _has_run_in_environment(run_dir, stat.pid)
    }


def terminate_members(run_dir: RunDirectory, started: StartedRecord, grace_s: float) -> None:
    """Send SIGTERM to all members, and SIGKILL after `grace_s`. Returns when none is left."""
    _terminate_all(run_dir, lambda: find_members(run_dir, started), grace_s)


def terminate_unrecorded_members(run_dir: RunDirectory, grace_s: float = 5.0) -> None:
    """Do the same as `terminate_members` for a run without a valid start record."""
    _terminate_all(run_dir, lambda: find_unrecorded_members(run_dir), grace_s)


def _terminate_all(
    run_dir: RunDirectory, find: Callable[[], set[ProcessIdentity]], grace_s: float
) -> None:
    left: set[ProcessIdentity] = set()
    for number, timeout_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, _KILL_TIMEOUT_S)):
        deadline = time.monotonic() + timeout_s
        signalled: set[ProcessIdentity] = set()
        # The second scan finds processes that started during the first.
        while left := find() or find():
            for member in left - signalled:
                with suppress(PermissionError):  # a set-uid program; the error below reports it
                    member.send(number)
                    member.send(signal.SIGCONT)
            signalled = left
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0:
                break
            next(iter(left)).wait(min(remaining_s, _POLL_S))
        else:
            return
    raise survived_error(run_dir, left)


def survived_error(run_dir: RunDirectory, members: set[ProcessIdentity]) -> UserError:
    pids = ", ".join(str(pid) for pid in sorted(member.pid for member in members))
    return UserError(
        f"Processes of run {run_dir.run_id} survived SIGKILL: {pids}.",
        remedy="They wait for a device or belong to another user; `ps -o pid,stat,wchan,user,args` "
        "shows which. Free what they wait for, then stop the run again.",
        code="T124",
    )


def _is_in_group(stat: ProcessStat, leader_pid: int) -> bool:
    return leader_pid in (stat.group, stat.session)


def _writes_to(run_dir: RunDirectory, pid: int) -> bool:
    files = {os.path.realpath(run_dir.spool), os.path.realpath(run_dir.worker_log)}
    return not files.isdisjoint(output_files_of(pid))


def _has_run_in_environment(run_dir: RunDirectory, pid: int) -> bool:
    environment = environment_of(pid)
    return environment.get(RUN_ID_VARIABLE) == run_dir.run_id and os.path.realpath(
        environment.get(RUN_DIR_VARIABLE, "")
    ) == os.path.realpath(run_dir.path)


# Longer than the supervisor needs to terminate what the worker leaves behind.
_SUPERVISOR_TIMEOUT_S = 30.0
_GRACE_POLL_S = 0.1


class Grace:
    """The time a worker has to stop. Any thread may shorten it, or cancel the termination."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.is_cancelled = False

    def shorten(self, seconds: float) -> None:
        self.seconds = min(self.seconds, seconds)

    def cancel(self) -> None:
        """Leave the worker unchanged; the next daemon continues."""
        self.is_cancelled = True


def terminate_worker(
    run_dir: RunDirectory, grace: Grace | float, *, stop_seq: int = 0
) -> RunProcess:
    """Send `stop` to the worker, SIGTERM to its group after `grace`, SIGKILL after another.

    Returns when no process of the run is left: exited, lost if the supervisor ended first, or still
    running if only the supervisor is left, waiting for disk space to record the exit.
    Does nothing to a run without a worker, and nothing more once the termination is cancelled.
    """
    grace = grace if isinstance(grace, Grace) else Grace(grace)
    try:
        process = observe(run_dir)
    except DamagedRecordError as error:
        terminate_unrecorded_members(run_dir, grace.seconds)
        return Lost(None, str(error))
    if not isinstance(process, Running):
        return finalize_lost(run_dir, grace.seconds) if isinstance(process, Lost) else process
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is None:
            with suppress(UserError):  # a worker that accepts no commands gets the signal instead
                send_command(run_dir, Stop(seq=stop_seq))
        else:
            process.worker.send_to_group(number)
        process.worker.send_to_group(signal.SIGCONT)  # suspended, it could not react
        if _wait_for_supervisor(process, grace, is_killed=number is signal.SIGKILL):
            break
        if grace.is_cancelled:
            return process
    return _prove_end(run_dir, process.started, grace.seconds)


def _wait_for_supervisor(process: Running, grace: Grace, *, is_killed: bool) -> bool:
    start = time.monotonic()
    while not grace.is_cancelled:
        timeout_s = _SUPERVISOR_TIMEOUT_S if is_killed else grace.seconds
        left_s = start + timeout_s - time.monotonic()
        if process.supervisor.wait(min(max(left_s, 0.0), _GRACE_POLL_S)):
            return True
        process.supervisor.send(signal.SIGCONT)  # suspended, it could not record the exit
        if left_s <= 0:
            break
    return False


def finalize_lost(run_dir: RunDirectory, grace_s: float = 5.0) -> RunProcess:
    """Terminate what is left of a run whose supervisor disappeared; only then is it `Lost`.

    For any other run, only its state is returned.
    """
    with supervisor_absence(run_dir) as absent:
        try:
            process = observe(run_dir)
        except DamagedRecordError as error:
            if not absent:
                raise
            terminate_unrecorded_members(run_dir, grace_s)
            return Lost(None, str(error))
        if absent and isinstance(process, Lost) and process.started is not None:
            terminate_members(run_dir, process.started, grace_s)
            return replace(process, is_end_proven=_is_end_proven(process.started))
        return process


def _is_end_proven(started: StartedRecord) -> bool:
    """Whether a process without a trace of the run, in its own session, would be gone too.

    Such a process can be found only in the run's control group, or if it became a child of this
    daemon, which must have started the supervisor itself. None survives a restart of the machine.
    """
    if started.boot_id != boot_id():
        return True
    if started.cgroup:
        remove_group(Path(started.cgroup))  # fails while a process is in it
        return not Path(started.cgroup).exists()
    supervisor = Running(started).supervisor
    return not end_adopted() and adopts_orphans_of(supervisor)


def _prove_end(run_dir: RunDirectory, started: StartedRecord, grace_s: float) -> RunProcess:
    process = finalize_lost(run_dir, grace_s)
    left = find_members(run_dir, started)
    if left:
        raise survived_error(run_dir, left)
    return process
