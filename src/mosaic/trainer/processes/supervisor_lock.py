"""Whether a run's supervisor lives, told by its lock and not by a pid."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from mosaic.contract.layout import RunDirectory


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
