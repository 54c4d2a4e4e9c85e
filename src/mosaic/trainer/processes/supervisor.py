"""The parent of one worker: `supervisor.py RUN_DIR RECORDS_DIR [CGROUP] -- COMMAND...`.

It outlives the daemon, so that a worker's telemetry and exit code never depend on the daemon. The
launcher starts it; everything else goes through files. In the run's directory:

    control           the FIFO that is the worker's stdin, held open here
    telemetry.jsonl   the worker's stdout, appended by the kernel
    worker.log        the worker's stderr, and ours once the worker is started

In the folder of our records, which the worker is not given:

    supervisor.lock   locked as long as this process is alive
    started.json      written before the worker's first instruction
    exit.json         written last: once it exists, every process of the run has ended

Its stdout and stderr report why a start failed, and are closed once the worker runs.
It exits with 2 when it must not start, with 1 when it could not, else with 0.
"""

# One such process exists per run, so it is kept small: `signal` (which loads enum, functools and
# collections), `json` (re) and `pathlib` would cost each run 2 MB and 10 ms.
# ruff: noqa: PTH104, PTH106, PTH108, PTH123, PTH208

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

LOCK = "supervisor.lock"
CONTROL = "control"
SPOOL = "telemetry.jsonl"
WORKER_LOG = "worker.log"
STARTED = "started.json"
EXIT = "exit.json"

PR_SET_CHILD_SUBREAPER = 36
HIGHEST_FD = 1 << 20
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # as every shell reports them
FIRST_OTHER_FD = 3  # after stdin, stdout and stderr
READY = b"!"
JSON_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(32), ord('"'), ord("\\"))}

AWAITED = (signal.SIGCHLD, signal.SIGTERM)
STRAY_STEPS = ((1.0, None), (2.0, signal.SIGTERM), (5.0, signal.SIGKILL))  # seconds to react
STRAY_POLL_S = 0.05  # no signal reports that a grandchild became our child
RECORD_RETRY_S = 1.0
COPY_BYTES = 1 << 20


class AlreadyStartedError(Exception):
    """This directory already has, or had, a supervisor."""


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
    own_signals()
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
        os.dup2(
            log, 1
        )  # our output is closed to the launcher now: it knows that the start is complete
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


def report(sentence: str) -> None:
    """Write to stderr, which may be closed."""
    try:
        os.write(2, f"[mosaic] {sentence}\n".encode(errors="backslashreplace"))
    except OSError:
        return


def own_signals() -> None:
    """The awaited signals stay blocked and are read one by one: no handler, no race."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, there would be no exit code
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, AWAITED)


def open_regular(name: str, flags: int, folder: int | None = None) -> int:
    """Open or create a file; never blocks and follows no link."""
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EEXIST, "is in the way and is not a regular file", name)
    os.set_blocking(descriptor, True)  # the worker inherits the flag
    return descriptor


def acquire_lock(records: int) -> None:
    """Lock the directory until this process ends: the descriptor is never closed."""
    lock = open_regular(LOCK, os.O_RDWR, records)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise AlreadyStartedError("Another supervisor controls this run.") from None


def check_not_started(records: int) -> None:
    """Raise if a worker was started before: a second one would write to the same spool."""
    if not {STARTED, EXIT}.isdisjoint(os.listdir(records)):
        raise AlreadyStartedError("This run was started before: it has started.json or exit.json.")


def become_subreaper() -> None:
    """Become the parent of descendants that lose theirs, even after a setsid."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "prctl")


def open_control() -> int:
    """The worker's stdin. The FIFO stays open for writing too, so that it never reaches EOF."""
    try:
        os.mkfifo(CONTROL, 0o600)
    except FileExistsError:
        if not stat.S_ISFIFO(os.lstat(CONTROL).st_mode):
            raise OSError(errno.EEXIST, "is in the way and is not a FIFO", CONTROL) from None
    os.open(CONTROL, os.O_RDWR | os.O_CLOEXEC)
    return os.open(CONTROL, os.O_RDONLY | os.O_CLOEXEC)


def open_for_append(name: str) -> int:
    return open_regular(name, os.O_WRONLY | os.O_APPEND)


def start_worker(command: list[str], stdio: list[int], records: int, group: str | None) -> Worker:
    """Fork, write the record, and only then let the child execute the command.

    The child waits for a byte on a pipe. If we die before the record is written, the pipe closes
    and the child exits.
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
    return Worker(pid, why_not_executed(command[0], failure), started)


def become_worker(command: list[str], stdio: list[int], gate: int, reporter: int) -> None:
    """In the child; never returns."""
    code = NOT_EXECUTABLE
    try:
        os.setsid()
        for target, given in enumerate(stdio):
            os.dup2(given, target)
        os.closerange(
            FIRST_OTHER_FD, gate
        )  # above all the lock, which must be released when we end
        reset_signals()
        os.write(reporter, READY)
        if os.read(gate, 1):
            os.execv(command[0], command)  # noqa: S606 - the list is executed as it is, by design
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


def why_not_executed(program: str, failure: bytes) -> str | None:
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
    """Until the worker has ended. Only we reap it, so its pid is not reused before."""
    while True:
        worker.reap()
        if worker.status is not None:
            return
        if signal.sigwaitinfo(AWAITED).si_signo == signal.SIGTERM:
            send({-worker.pid}, signal.SIGTERM)  # the whole group


def end_strays(worker: Worker) -> tuple[int, int]:
    """End what the worker left behind: time to exit, then SIGTERM, then SIGKILL.

    Only our own children are signalled: their pids are not reused before we reap them. Their
    children become ours when they end. Returns how many had to be ended, and how many are left.
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


def restore_spool(spool: int) -> bool:
    """Put the spool back if the worker removed or replaced it; returns whether it did.

    Everything that was written is in the open file. A file in its place is renamed, not removed.
    """
    try:
        if os.path.lexists(SPOOL):
            if os.path.samestat(os.lstat(SPOOL), os.fstat(spool)):
                return False
            os.rename(SPOOL, f"{SPOOL}.replaced")
        restored = open_regular(f"{SPOOL}.tmp", os.O_WRONLY | os.O_TRUNC)
        with open(f"/proc/self/fd/{spool}", "rb") as source, open(restored, "wb") as target:
            while block := source.read(COPY_BYTES):
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
        os.rename(f"{SPOOL}.tmp", SPOOL)
    except OSError as error:
        report(f"{SPOOL} was removed or replaced, and cannot be restored: {error.strerror}.")
        return False
    report(f"{SPOOL} was removed or replaced, and is restored.")
    return True


def record_exit(records: int, spool: int, record: dict[str, object]) -> bool:
    """Retry until it succeeds: a full disk must not lose the exit code."""
    is_reported = False
    while True:
        try:
            os.fsync(spool)  # it must be complete once the end of the run is recorded
            write_record(records, EXIT, record)
        except FileNotFoundError:
            return False  # the directory was deleted
        except OSError as error:
            if not is_reported:
                report(f"The exit cannot be recorded yet: {error.strerror}. Retrying.")
                is_reported = True
            time.sleep(RECORD_RETRY_S)
        else:
            return True


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


def to_json(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_json(k)}: {to_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, str):
        return f'"{value.translate(JSON_ESCAPES)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else repr(value)


def write_record(records: int, name: str, record: dict[str, object]) -> None:
    """Write the record atomically, even if the power fails."""
    partial = f"{name}.tmp"
    with open(open_regular(partial, os.O_WRONLY | os.O_TRUNC, records), "wb") as file:
        file.write(f"{to_json(record)}\n".encode(errors="replace"))
        file.flush()
        os.fsync(file.fileno())
    os.rename(partial, name, src_dir_fd=records, dst_dir_fd=records)
    os.fsync(records)


def remove_group(group: str) -> None:
    try:
        os.rmdir(group)
    except OSError:
        return  # the worker has created groups in it, or it could not be used


def remove_control() -> None:
    try:
        os.unlink(CONTROL)
    except OSError as error:
        report(f"The control FIFO could not be removed: {error.strerror}.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
