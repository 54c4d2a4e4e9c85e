"""Running a short-lived program, whose processes are gone when the call returns.

They are killed by their process group; those that left it become children of the daemon, which is a
subreaper.

Used for everything but runs: describing a worker, building its environment, querying a driver, dry
runs.
"""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mosaic.trainer.processes.child_processes import end_adopted, start_child

Stream = Literal["out", "err"]
OnOutput = Callable[[Stream, bytes], None]

_POLL_S = 0.1
_READ_BYTES = 65536
_KILL_TIMEOUT_S = 2.0
"""A process that waits for a broken driver does not react even to SIGKILL."""


def run_watched(
    command: Sequence[str | Path],
    *,
    on_output: OnOutput,
    may_continue: Callable[[], bool],
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    on_start: Callable[[int], None] = lambda _pid: None,
    keep_open: Sequence[int] = (),
) -> int | None:
    """Return the program's exit code; None if it was killed because `may_continue` was False.

    `may_continue` is called after each read and ten times a second. Descriptors in
    `keep_open` stay open in the program. Its output is complete, except for that of a child which
    left the group. Raises `OSError` when it cannot be started. No shell; safe from any thread.
    """
    process = start_child(
        lambda: subprocess.Popen(
            command,
            cwd=cwd,
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=tuple(keep_open),
        )
    )
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    assert process.stderr is not None  # noqa: S101 - it was opened as a pipe
    with process.stdout, process.stderr:
        pipes: dict[int, Stream] = {process.stdout.fileno(): "out", process.stderr.fileno(): "err"}
        for pipe in pipes:
            os.set_blocking(pipe, False)
        with _kill_on_exit(process):
            on_start(process.pid)
            has_ended = _follow(process.pid, pipes, on_output, may_continue)
        for pipe, stream in pipes.items():
            while data := _read(pipe):
                on_output(stream, data)
    if not has_ended:
        return None
    return -signal.SIGKILL if process.returncode is None else process.returncode


def _follow(
    pid: int, pipes: Mapping[int, Stream], on_output: OnOutput, may_continue: Callable[[], bool]
) -> bool:
    """Read the pipes until the program ended; returns False if it may not continue."""
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        for descriptor in (handle, *pipes):
            poll.register(descriptor, select.POLLIN)
        while may_continue():
            ready = [descriptor for descriptor, _ in poll.poll(_POLL_S * 1000)]
            if handle in ready:
                return True
            for pipe in ready:
                data = _read(pipe)
                if data:
                    on_output(pipes[pipe], data)
                else:
                    poll.unregister(pipe)  # closed by the program, which continues
        return False
    finally:
        os.close(handle)


def _read(pipe: int) -> bytes:
    """Return the available data; empty if there is none, or at the end."""
    try:
        return os.read(pipe, _READ_BYTES)
    except BlockingIOError:
        return b""


@contextmanager
def _kill_on_exit(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    try:
        yield
    finally:
        # Before it is reaped: until then no other process can have its pid.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        try:
            process.wait(_KILL_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            threading.Thread(target=process.wait, name=f"reap {process.pid}", daemon=True).start()
        end_adopted(spare_runs=True)  # those that left the group


_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command. Output beyond the limit is discarded."""

    exit_code: int
    """As in `subprocess`: negative when a signal killed it."""
    output: bytes
    error_output: bytes
    timed_out: bool = False
    is_output_truncated: bool = False
    is_error_output_truncated: bool = False


def run_bounded(
    command: Sequence[str | Path],
    *,
    limit_s: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    max_output_bytes: int = _MIB,
) -> CommandResult:
    """Run `command` in its own process group, without a shell and without input.

    When it ends, or after the time limit, its group is killed.
    Raises `OSError` when it cannot be executed. Safe from any thread.
    """
    deadline = time.monotonic() + limit_s
    outputs: dict[Stream, _LimitedOutput] = {
        "out": _LimitedOutput(max_output_bytes),
        "err": _LimitedOutput(max_output_bytes),
    }
    exit_code = run_watched(
        command,
        cwd=folder,
        environment=environment,
        on_output=lambda stream, data: outputs[stream].add(data),
        may_continue=lambda: time.monotonic() < deadline,
    )
    return CommandResult(
        exit_code=-signal.SIGKILL if exit_code is None else exit_code,
        output=bytes(outputs["out"].data),
        error_output=bytes(outputs["err"].data),
        timed_out=exit_code is None,
        is_output_truncated=outputs["out"].is_truncated,
        is_error_output_truncated=outputs["err"].is_truncated,
    )


class _LimitedOutput:
    """The first bytes of an output."""

    def __init__(self, max_bytes: int) -> None:
        self.data = bytearray()
        self.is_truncated = False
        self._max_bytes = max_bytes

    def add(self, data: bytes) -> None:
        free_bytes = self._max_bytes - len(self.data)
        self.data += data[:free_bytes]
        self.is_truncated |= len(data) > free_bytes
