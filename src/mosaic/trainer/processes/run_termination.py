"""Ending a run's worker, with proof that nothing of it is left."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from mosaic.contract.control import Stop
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RUN_DIR_VARIABLE, RUN_ID_VARIABLE, RunDirectory
from mosaic.contract.process_records import StartedRecord
from mosaic.trainer.processes.control_channel import send_command
from mosaic.trainer.processes.process_identity import (
    ProcessIdentity,
    ProcessStat,
    boot_id,
    environment_of,
    live_processes,
    output_files_of,
    read_stat,
)
from mosaic.trainer.processes.run_process import (
    Lost,
    Running,
    RunProcess,
    observe,
    supervisor_absence,
)

_KILL_TIMEOUT_S = 10.0
_POLL_S = 0.05


def members_of(run_dir: RunDirectory, started: StartedRecord) -> set[ProcessIdentity]:
    """All living processes that are provably the run's: never one that merely has its pid.

    Those that carry the run in their environment, whatever their session; and those in the worker's
    session and group, as long as the worker holds that number or they write to the run's files.
    The supervisor, and the process that asks, are not members.
    """
    if started.boot_id != boot_id():
        return set()
    leader = read_stat(started.pid)
    group_is_ours = leader is not None and leader.start_ticks == started.start_ticks
    stamp = started.supervisor
    living = {
        ProcessIdentity(stat.pid, stat.start_ticks, started.boot_id)
        for stat in live_processes()
        if _carries(run_dir, stat.pid)
        or (_is_in_group(stat, started.pid) and (group_is_ours or _writes_to(run_dir, stat.pid)))
    }
    supervisor = ProcessIdentity(stamp.pid, stamp.start_ticks, started.boot_id)
    return {member for member in living - {supervisor} if member.pid != os.getpid()}


def carriers_of(run_dir: RunDirectory) -> set[ProcessIdentity]:
    """All living processes that carry the run in their environment, its supervisor included."""
    return {
        ProcessIdentity(stat.pid, stat.start_ticks, boot_id())
        for stat in live_processes()
        if stat.pid != os.getpid() and _carries(run_dir, stat.pid)
    }


def end_members(run_dir: RunDirectory, started: StartedRecord, grace_s: float) -> None:
    """Ends all members: SIGTERM, and SIGKILL after `grace_s`. Returns when none is left."""
    _end_all(run_dir, lambda: members_of(run_dir, started), grace_s)


def end_carriers(run_dir: RunDirectory, grace_s: float = 5.0) -> None:
    """The same without a record of what was started, for a run whose files are damaged."""
    _end_all(run_dir, lambda: carriers_of(run_dir), grace_s)


def _end_all(
    run_dir: RunDirectory, find: Callable[[], set[ProcessIdentity]], grace_s: float
) -> None:
    left: set[ProcessIdentity] = set()
    for number, timeout_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, _KILL_TIMEOUT_S)):
        deadline = time.monotonic() + timeout_s
        asked: set[ProcessIdentity] = set()
        # The second look is for one that was born behind the back of the first.
        while left := find() or find():
            for member in left - asked:
                with suppress(PermissionError):  # a set-uid program; the error below tells of it
                    member.send(number)
                    member.send(signal.SIGCONT)
            asked = left
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0:
                break
            next(iter(left)).wait(min(remaining_s, _POLL_S))
        else:
            return
    raise still_alive(run_dir, left)


def still_alive(run_dir: RunDirectory, members: set[ProcessIdentity]) -> UserError:
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


def _carries(run_dir: RunDirectory, pid: int) -> bool:
    environment = environment_of(pid)
    return environment.get(RUN_ID_VARIABLE) == run_dir.run_id and os.path.realpath(
        environment.get(RUN_DIR_VARIABLE, "")
    ) == os.path.realpath(run_dir.path)


# Longer than the supervisor needs to end what the worker leaves behind.
_SUPERVISOR_TIMEOUT_S = 30.0
_GRACE_POLL_S = 0.1


class Grace:
    """How long a worker may take to obey. Any thread may shorten it, or call the ending off."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.is_called_off = False

    def hurry(self, seconds: float) -> None:
        self.seconds = min(self.seconds, seconds)

    def call_off(self) -> None:
        """Leave the worker as it is; somebody else goes on later."""
        self.is_called_off = True


def end_worker(
    run_dir: RunDirectory, grace: Grace | float = 10.0, *, stop_seq: int = 0
) -> RunProcess:
    """`stop` to the worker, SIGTERM to its group after `grace`, SIGKILL after that again.

    Returns when no process of the run is left: exited, lost if the supervisor went first, or still
    running if only the supervisor is left, waiting for room on the disk to record the exit.
    Does nothing to a run that has no worker, and nothing more once the ending is called off.
    """
    grace = grace if isinstance(grace, Grace) else Grace(grace)
    process = observe(run_dir)
    if not isinstance(process, Running):
        return settle_lost(run_dir, grace.seconds) if isinstance(process, Lost) else process
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is None:
            with suppress(UserError):  # a worker that takes no command gets the signal instead
                send_command(run_dir, Stop(seq=stop_seq))
        else:
            process.worker.send_to_group(number)
        process.worker.send_to_group(signal.SIGCONT)  # paused, it could not obey
        if _ends_in_time(process, grace, is_killed=number is signal.SIGKILL):
            break
        if grace.is_called_off:
            return process
    return _proven_end(run_dir, process.started, grace.seconds)


def _ends_in_time(process: Running, grace: Grace, *, is_killed: bool) -> bool:
    began = time.monotonic()
    while not grace.is_called_off:
        timeout_s = _SUPERVISOR_TIMEOUT_S if is_killed else grace.seconds
        left_s = began + timeout_s - time.monotonic()
        if process.supervisor.wait(min(max(left_s, 0.0), _GRACE_POLL_S)):
            return True
        if left_s <= 0:
            break
    return False


def settle_lost(run_dir: RunDirectory, grace_s: float = 5.0) -> RunProcess:
    """Ends what is left of a run whose supervisor vanished; only then is the run `Lost`.

    Any other run is left alone and its state returned.
    """
    with supervisor_absence(run_dir) as absent:
        process = observe(run_dir)
        if absent and isinstance(process, Lost):
            end_members(run_dir, process.started, grace_s)
        return process


def _proven_end(run_dir: RunDirectory, started: StartedRecord, grace_s: float) -> RunProcess:
    process = settle_lost(run_dir, grace_s)
    left = members_of(run_dir, started)
    if left:
        raise still_alive(run_dir, left)
    return process
