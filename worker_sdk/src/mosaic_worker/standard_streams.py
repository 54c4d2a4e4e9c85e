"""Claims standard output and input, so that libraries in this process cannot use them.

Telemetry and control use private copies that child processes do not inherit.
"""

from __future__ import annotations

import fcntl
import os
import sys

from mosaic_worker.errors import WorkerError

_MIN_FD = 3


def claim_stdout() -> int:
    """A private copy of fd 1; afterwards fd 1 refers to standard error."""
    # Python has no stdout if fd 1 was closed at start-up; fd 1 is another file then.
    private = None if sys.__stdout__ is None else _private_copy(1)
    if private is None:
        raise WorkerError(
            "Standard output is closed, so telemetry cannot be written.",
            remedy="Start the worker with standard output open, for example '> telemetry.jsonl'.",
        )
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        _redirect_to_null(1, os.O_WRONLY)
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        # Keeps the order of output to stdout and stderr.
        sys.stdout.reconfigure(line_buffering=True)
    return private


def claim_stdin() -> int | None:
    """A private copy of fd 0, or None if it is closed; afterwards fd 0 is empty."""
    private = _private_copy(0)
    _redirect_to_null(0, os.O_RDONLY)
    return private


def _private_copy(fd: int) -> int | None:
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _MIN_FD)
    except OSError:
        return None


def _redirect_to_null(fd: int, flags: int) -> None:
    null = os.open(os.devnull, flags)
    if null != fd:
        os.dup2(null, fd)
        os.close(null)
    else:
        os.set_inheritable(fd, True)
