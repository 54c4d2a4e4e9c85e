"""Files of one run as its supervisor opens and writes them. Used by `supervisor.py` only.

In the run's directory, which is the current one:

    control           the FIFO that is the worker's stdin, held open by the supervisor
    telemetry.jsonl   the worker's stdout, appended by the kernel
    worker.log        the worker's stderr, and the supervisor's once the worker is started

In the folder of records, which the worker is not given:

    supervisor.lock   locked as long as the supervisor is alive
    started.json      written before the worker's first instruction
    exit.json         written last: once it exists, every process of the run has ended
"""

# One such process exists per run, so this imports as little as `supervisor.py`.
# ruff: noqa: PTH104, PTH108, PTH123

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time

LOCK = "supervisor.lock"
CONTROL = "control"
SPOOL = "telemetry.jsonl"
WORKER_LOG = "worker.log"
STARTED = "started.json"
EXIT = "exit.json"

JSON_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(32), ord('"'), ord("\\"))}
RECORD_RETRY_S = 1.0
COPY_BYTES = 1 << 20


class AlreadyStartedError(Exception):
    """This directory already has, or had, a supervisor."""


def report(sentence: str) -> None:
    """Write to stderr, which may be closed."""
    try:
        os.write(2, f"[mosaic] {sentence}\n".encode(errors="backslashreplace"))
    except OSError:
        return


def open_regular(name: str, flags: int, folder: int | None = None) -> int:
    """Open or create a file; never blocks and follows no link."""
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EEXIST, "exists and is not a regular file", name)
    os.set_blocking(descriptor, True)  # the worker inherits the flag
    return descriptor


def open_for_append(name: str) -> int:
    return open_regular(name, os.O_WRONLY | os.O_APPEND)


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


def open_control() -> int:
    """Open the worker's stdin. The FIFO stays open for writing too, so that it has no EOF."""
    try:
        os.mkfifo(CONTROL, 0o600)
    except FileExistsError:
        if not stat.S_ISFIFO(os.lstat(CONTROL).st_mode):
            raise OSError(errno.EEXIST, "exists and is not a FIFO", CONTROL) from None
    os.open(CONTROL, os.O_RDWR | os.O_CLOEXEC)
    return os.open(CONTROL, os.O_RDONLY | os.O_CLOEXEC)


def remove_control() -> None:
    try:
        os.unlink(CONTROL)
    except OSError as error:
        report(f"The control FIFO could not be removed: {error.strerror}.")


def write_record(records: int, name: str, record: dict[str, object]) -> None:
    """Write the record atomically, even if the power fails."""
    partial = f"{name}.tmp"
    with open(open_regular(partial, os.O_WRONLY | os.O_TRUNC, records), "wb") as file:
        file.write(f"{to_json(record)}\n".encode(errors="replace"))
        file.flush()
        os.fsync(file.fileno())
    os.rename(partial, name, src_dir_fd=records, dst_dir_fd=records)
    os.fsync(records)


def to_json(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_json(k)}: {to_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, str):
        return f'"{value.translate(JSON_ESCAPES)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else repr(value)


def record_exit(records: int, spool: int, record: dict[str, object]) -> bool:
    """Write the exit record; retries, so that a full disk does not lose the exit code."""
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


def restore_spool(spool: int) -> bool:
    """Restore the spool if the worker removed or replaced it; returns whether it did.

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
