"""The daemon's children: processes that it started, and orphans that it adopted.

The daemon is a subreaper: a descendant whose parent has ended becomes its child, even one with its
own session and an empty environment. Its parent was started by the daemon and has ended, so an
adopted process is a leftover, and is killed. The module's state is global to this process.
"""

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from mosaic.contract.layout import RUN_ID_VARIABLE
from mosaic.contract.process_identity import (
    ProcessIdentity,
    ProcessStat,
    boot_id,
    environment_of,
    read_stat,
)

_PR_SET_CHILD_SUBREAPER = 36
_MAX_KNOWN = 10_000
_KILL_TIMEOUT_S = 5.0
_POLL_S = 0.02

_lock = threading.Lock()
_started: set[ProcessIdentity] = set()
_is_subreaper = False


def become_subreaper() -> None:
    """Adopt the orphans of all processes that are started from now on. Raises `OSError`."""
    global _is_subreaper  # noqa: PLW0603 - an attribute of the process
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "prctl")
    _is_subreaper = True


def start_child(start: "Callable[[], subprocess.Popen[bytes]]") -> "subprocess.Popen[bytes]":
    """Call `start`, and remember its process. Every process of the daemon is started by this."""
    with _lock:
        process = start()
        identity = ProcessIdentity.of(process.pid)
        if len(_started) >= _MAX_KNOWN:
            _started.intersection_update({known for known in _started if known.is_alive()})
        if identity is not None:
            _started.add(identity)
    return process


def adopts_orphans_of(process: ProcessIdentity) -> bool:
    """Whether the descendants of this process became children of this one when it ended."""
    return _is_subreaper and process in _started


def end_adopted(*, spare_runs: bool = False, timeout_s: float = _KILL_TIMEOUT_S) -> set[int]:
    """Kill and reap adopted processes; returns the pids of those that are left.

    A process in the session of a child that is alive is not touched: it belongs to that child.
    With `spare_runs`, those with a run in their environment are left to the end of that run, which
    gives them time to stop.
    """
    if not _is_subreaper:
        return set()
    deadline = time.monotonic() + timeout_s
    while True:
        with _lock:
            adopted = [
                stat
                for stat in _adopted()
                if not (spare_runs and RUN_ID_VARIABLE in environment_of(stat.pid))
            ]
        if not adopted or time.monotonic() > deadline:
            return {stat.pid for stat in adopted}
        for stat in adopted:
            # Safe: the pid of a child is not reused before it is reaped, and only this reaps it.
            with suppress(OSError):
                os.kill(stat.pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(stat.pid, os.WNOHANG)
        time.sleep(_POLL_S)


def _adopted() -> list[ProcessStat]:
    children = [stat for pid in _pids() if (stat := read_stat(pid)) and stat.parent == os.getpid()]
    own = {
        stat.pid
        for stat in children
        if ProcessIdentity(stat.pid, stat.start_ticks, boot_id()) in _started
    }
    living = {stat.pid for stat in children if stat.pid in own and not stat.is_dead}
    return [stat for stat in children if stat.pid not in own and stat.session not in living]


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - as in live_processes
