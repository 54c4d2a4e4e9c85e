"""Running a short-lived program in a group of its own, which is gone when the call returns.

Used for what is not a run: describing a worker, making its environment.
"""

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Literal

Stream = Literal["out", "err"]
OnOutput = Callable[[Stream, bytes], None]

_LOOK_EVERY_S = 0.1
_READ_BYTES = 65536


def run_watched(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    on_output: OnOutput,
    may_continue: Callable[[], bool],
    on_start: Callable[[int], None] = lambda _pid: None,
    keep_open: Sequence[int] = (),
) -> int | None:
    """The program's exit code; None when `may_continue` said no, and it was killed.

    `may_continue` is asked after every piece of output and ten times a second. Descriptors in
    `keep_open` stay open in the program. Raises `OSError` when it cannot be started. No shell.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=tuple(keep_open),
    )
    with process:
        try:
            on_start(process.pid)
            ended = _follow(process, on_output, may_continue)
        finally:
            # Before it is waited for: until then nobody else can have its number.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        exit_code = process.wait()
    return exit_code if ended else None


def _follow(
    process: subprocess.Popen[bytes], on_output: OnOutput, may_continue: Callable[[], bool]
) -> bool:
    """Reads until the program ended, or False as soon as it may not go on."""
    with selectors.DefaultSelector() as selector:
        selector.register(_open(process.stdout), selectors.EVENT_READ, "out")
        selector.register(_open(process.stderr), selectors.EVENT_READ, "err")
        while selector.get_map():
            ready = selector.select(_LOOK_EVERY_S)
            for key, _ in ready:
                data = os.read(key.fd, _READ_BYTES)
                if data:
                    on_output(key.data, data)
                else:
                    selector.unregister(key.fileobj)
            if not may_continue():
                return False
            # A child that it left behind may hold the pipes open for ever.
            if not ready and _has_ended(process.pid):
                return True
    while not _has_ended(process.pid, wait_s=_LOOK_EVERY_S):
        if not may_continue():
            return False
    return True


def _has_ended(pid: int, wait_s: float = 0.0) -> bool:
    """Whether it has exited; it stays a zombie, so that its number stays its own."""
    handle = os.pidfd_open(pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            return bool(selector.select(wait_s))
    finally:
        os.close(handle)


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the process was started without this pipe")
    return stream
