"""The parent of one worker: `supervisor.py RUN_DIR RECORDS_DIR [CGROUP] -- COMMAND...`.

It outlives the daemon, so that a worker's telemetry and exit code never depend on the daemon. The
launcher starts it; everything else goes through the files that `supervisor_files.py` describes.

Its stdout and stderr report why a start failed, and are closed once the worker runs.
It exits with 2 when it must not start, with 1 when it could not, else with 0.
"""

# One such process exists per run, so it is kept small: `signal` (which loads enum, functools and
# collections), `json` (re) and `pathlib` would cost each run 2 MB and 10 ms.
# ruff: noqa: PTH106, PTH123, PTH208

from __future__ import annotations

import ctypes
import errno
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

# It runs in isolated mode, without this program's packages in its path.
sys.path.append(__file__.rpartition("/mosaic/trainer/")[0])

from mosaic.trainer.processes.supervisor_files import (  # noqa: E402 - needs the path
    SPOOL,
    STARTED,
    WORKER_LOG,
    AlreadyStartedError,
    acquire_lock,
    check_not_started,
    open_control,
    open_for_append,
    record_exit,
    remove_control,
    report,
    restore_spool,
    write_record,
)

PR_SET_CHILD_SUBREAPER = 36
HIGHEST_FD = 1 << 20
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # as every shell reports them
FIRST_OTHER_FD = 3  # after stdin, stdout and stderr
READY = b"!"

AWAITED = (signal.SIGCHLD, signal.SIGTERM)
STRAY_STEPS = ((1.0, None), (2.0, signal.SIGTERM), (5.0, signal.SIGKILL))  # seconds to react
STRAY_POLL_S = 0.05  # no signal reports that a grandchild became our child


class Worker:
    """The child process, and its resource usage and exit status."""

    __slots__ = ("cpu_s", "ended", "error", "max_rss_bytes", "pid", "started", "status")

    def __init__(self, pid: int, error: str | None, started: float) -> None:
        self.pid = pid
        self.error = error
        self.started = started  # by the monotonic clock, like `ended`
        self.ended = 0.0
        self.status: int | None = None
        self.cpu_s = 0.0
        self.max_rss_bytes = 0

    def reap(self) -> tuple[int, bool]:
        """Reap ended children; returns how many were strays, and whether children are left."""
        strays = 0
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return strays, False
            if pid == 0:
                return strays, True
            self.cpu_s += usage.ru_utime + usage.ru_stime
            self.max_rss_bytes = max(self.max_rss_bytes, usage.ru_maxrss * 1024)
            if pid == self.pid:
                self.status, self.ended = status, time.monotonic()
            else:
                strays += 1


def main(arguments: list[str]) -> int:
    split = arguments.index("--") if "--" in arguments else 0
    folders, command = arguments[:split], arguments[split + 1 :]
    if len(folders) not in (2, 3) or not command or not command[0]:
        report("usage: supervisor.py RUN_DIR RECORDS_DIR [CGROUP] -- COMMAND...")
        return 2
    group = folders[2] if len(folders) > 2 else None
    os.closerange(FIRST_OTHER_FD, HIGHEST_FD)
    block_signals()
    try:
        os.chdir(folders[0])
        records = os.open(folders[1], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        acquire_lock(records)
        check_not_started(records)
        become_subreaper()
        stdin = open_control()
        spool = open_for_append(SPOOL)
        log = open_for_append(WORKER_LOG)
        worker = start_worker(command, [stdin, spool, log], records, group)
    except AlreadyStartedError as error:
        report(str(error))
        return 2
    except OSError as error:
        report(f"The supervisor could not start: {error.filename or 'system'}: {error.strerror}.")
        return 1
    os.close(stdin)
    os.dup2(log, 2)
    if worker.error:
        report(worker.error)
    else:
        # This closes the pipe to the launcher, which then knows that the start is complete.
        os.dup2(log, 1)
    wait_for(worker)
    strays_ended, strays_left = end_strays(worker)
    if group and not strays_left:
        remove_group(group)
    record = exit_record(worker, strays_ended, strays_left)
    record["spool_restored"] = restore_spool(spool)
    record["spool_bytes"] = os.fstat(spool).st_size
    if not record_exit(records, spool, record):
        return 1
    remove_control()
    return 0


def block_signals() -> None:
    """Block the awaited signals, which are read one by one without a handler."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, there would be no exit code
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, AWAITED)


def become_subreaper() -> None:
    """Become the parent of descendants that lose theirs, even after a setsid."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "prctl")


def start_worker(command: list[str], stdio: list[int], records: int, group: str | None) -> Worker:
    """Fork, write the record, and only then let the child execute the command.

    The child waits for a byte on a pipe. If this process ends before the record is written, the
    pipe closes and the child exits.
    """
    gate, opener = os.pipe()
    result_pipe, reporter = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(opener)
        become_worker(command, stdio, gate, reporter)
    os.close(reporter)
    started = time.monotonic()
    try:
        first_byte = os.read(result_pipe, 1)  # it has its own session and group now, or has failed
        record = started_record(pid, stdio[1])
        record["cgroup"] = group if group and join_group(group, pid) else None
        write_record(records, STARTED, record)
    except OSError:
        os.close(opener)
        os.waitpid(pid, 0)
        raise
    os.write(opener, READY)
    os.close(opener)
    os.close(gate)
    failure = (first_byte + os.read(result_pipe, 16)).strip(READY)  # empty when the command runs
    os.close(result_pipe)
    return Worker(pid, execution_error(command[0], failure), started)


def become_worker(command: list[str], stdio: list[int], gate: int, reporter: int) -> None:
    """Execute the command. Called in the child; never returns."""
    code = NOT_EXECUTABLE
    try:
        os.setsid()
        for target, given in enumerate(stdio):
            os.dup2(given, target)
        # Among others the lock, which must be released when the supervisor ends.
        os.closerange(FIRST_OTHER_FD, gate)
        reset_signals()
        os.write(reporter, READY)
        if os.read(gate, 1):
            os.execv(command[0], command)  # noqa: S606 - no shell
    except OSError as error:
        code = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
        os.write(reporter, str(error.errno).encode())
    finally:
        os._exit(code)


def reset_signals() -> None:
    for number in signal.valid_signals():
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def execution_error(program: str, failure: bytes) -> str | None:
    if not failure:
        return None
    number = int(failure)
    hint = "Check that it exists and is executable"
    if number == errno.ENOENT and os.path.lexists(program):
        hint = "The file exists, so check the interpreter in its first line"
    return f"The worker could not be started: {program}: {os.strerror(number)}. {hint}."


def started_record(pid: int, spool: int) -> dict[str, object]:
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot_id = file.read().strip()
    return {
        "v": 1,
        "pid": pid,
        "start_ticks": int(stat_fields(pid)[19]),
        "boot_id": boot_id,
        "t": time.time(),
        "supervisor": {"pid": os.getpid(), "start_ticks": int(stat_fields(os.getpid())[19])},
        "spool": {
            "device": os.fstat(spool).st_dev,
            "inode": os.fstat(spool).st_ino,
            "descriptor": spool,
        },
    }


def join_group(group: str, pid: int) -> bool:
    """Move the child, which waits, to the run's control group; returns whether it is there."""
    try:
        procs = os.open(f"{group}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(procs, b"%d" % pid)
        finally:
            os.close(procs)
    except OSError:
        return False
    return True


def stat_fields(pid: int) -> list[bytes]:
    """/proc/PID/stat from its third field on; the second, a name, may contain anything."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()


def wait_for(worker: Worker) -> None:
    """Wait until the worker has ended. Its pid is not reused before it is reaped here."""
    while True:
        worker.reap()
        if worker.status is not None:
            return
        if signal.sigwaitinfo(AWAITED).si_signo == signal.SIGTERM:
            send({-worker.pid}, signal.SIGTERM)  # the whole group


def end_strays(worker: Worker) -> tuple[int, int]:
    """End the remaining processes: wait for their exit, then send SIGTERM, then SIGKILL.

    Only children of this process are signalled: their pids are not reused before they are reaped.
    Their children become its children when they end. Returns the numbers of ended and remaining
    processes.
    """
    ended = 0
    for timeout_s, number in STRAY_STEPS:
        deadline = time.monotonic() + timeout_s
        signalled: set[int] = set()
        while True:
            reaped, some_left = worker.reap()
            if number is not None:
                ended += reaped
            if not some_left:
                return ended, 0
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                break
            if number is not None:
                present = children()
                send(present - signalled, number)
                signalled = present
            signal.sigtimedwait(AWAITED, min(left_s, STRAY_POLL_S))
    left = children()
    report(f"{len(left)} processes of this run could not be ended: {sorted(left)}.")
    return ended, len(left)


def children() -> set[int]:
    pids = set()
    own_pid = os.getpid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if int(stat_fields(int(name))[1]) == own_pid:
                    pids.add(int(name))
            except OSError:
                continue
    return pids


def send(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
            os.kill(pid, signal.SIGCONT)  # a suspended process could not react
        except OSError:
            continue  # a set-uid program cannot be signalled; it is counted as left


def exit_record(worker: Worker, strays_ended: int, strays_left: int) -> dict[str, object]:
    code = os.waitstatus_to_exitcode(worker.status or 0)
    return {
        "v": 1,
        "exit_code": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "signal_name": signal_name(-code),
        "t": time.time() - (time.monotonic() - worker.ended),
        "duration_s": round(worker.ended - worker.started, 3),
        "max_rss_bytes": worker.max_rss_bytes,
        "cpu_s": round(worker.cpu_s, 3),
        "strays_ended": strays_ended,
        "strays_left": strays_left,
        "error": worker.error,
    }


def signal_name(number: int) -> str | None:
    for name in dir(signal):  # sorted, so that SIGABRT comes before its alias SIGIOT
        if name.startswith("SIG") and "_" not in name and getattr(signal, name) == number:
            return name
    return None


def remove_group(group: str) -> None:
    try:
        os.rmdir(group)
    except OSError:
        return  # the worker has created groups in it, or it could not be used


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
