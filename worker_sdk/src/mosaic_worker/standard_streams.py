"""Takes standard output and input away from the libraries in this process.

Telemetry and control get private copies that no child process inherits.
"""

from __future__ import annotations

import fcntl
import os
import sys

from mosaic_worker.errors import WorkerError

_FIRST_FREE = 3


def claim_stdout() -> int:
    """A private copy of fd 1; from now on fd 1 is standard error."""
    # Python has no stdout when fd 1 was closed at its start; what is fd 1 now is another file.
    private = None if sys.__stdout__ is None else _private_copy(1)
    if private is None:
        raise WorkerError(
            "Standard output is closed, so telemetry has nowhere to go.",
            remedy="Start the worker with standard output open, for example '> telemetry.jsonl'.",
        )
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        _point_at_null(1, os.O_WRONLY)
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)  # in step with what is written to stderr
    return private


def claim_stdin() -> int | None:
    """A private copy of fd 0, or None when there is none; from now on fd 0 is empty."""
    private = _private_copy(0)
    _point_at_null(0, os.O_RDONLY)
    return private


def _private_copy(fd: int) -> int | None:
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
    except OSError:
        return None


def _point_at_null(fd: int, flags: int) -> None:
    null = os.open(os.devnull, flags)
    if null != fd:
        os.dup2(null, fd)
        os.close(null)
    else:
        os.set_inheritable(fd, True)
