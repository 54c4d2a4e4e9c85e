"""Running a short-lived program in a group of its own, which is gone when the call returns.

Used for what is not a run: describing a worker, making its environment, asking a driver, a dry run.
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

Stream = Literal["out", "err"]
OnOutput = Callable[[Stream, bytes], None]

_POLL_S = 0.1
_READ_BYTES = 65536
_KILL_TIMEOUT_S = 2.0
"""A process that waits for a broken driver does not even die of SIGKILL."""


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
    """The program's exit code; None when `may_continue` said no, and it was killed.

    `may_continue` is asked after every piece of output and ten times a second. Descriptors in
    `keep_open` stay open in the program. Its output is complete, but for what a child that got
    away writes later. Raises `OSError` when it cannot be started. No shell; safe from any thread.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=None if environment is None else dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=tuple(keep_open),
    )
    assert process.stdout is not None  # noqa: S101 - it was asked for as a pipe
    assert process.stderr is not None  # noqa: S101 - it was asked for as a pipe
    with process.stdout, process.stderr:
        pipes: dict[int, Stream] = {process.stdout.fileno(): "out", process.stderr.fileno(): "err"}
        for pipe in pipes:
            os.set_blocking(pipe, False)
        with _ended_afterwards(process):
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
    """Keeps the pipes from filling up until the program ended; False when it may not go on."""
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
                    poll.unregister(pipe)  # closed by the program, which goes on
        return False
    finally:
        os.close(handle)


def _read(pipe: int) -> bytes:
    """What is there now; nothing at the end, or while nothing comes."""
    try:
        return os.read(pipe, _READ_BYTES)
    except BlockingIOError:
        return b""


@contextmanager
def _ended_afterwards(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    try:
        yield
    finally:
        # Before it is waited for: until then nobody else can have its number.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        try:
            process.wait(_KILL_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            threading.Thread(target=process.wait, name=f"reap {process.pid}", daemon=True).start()


_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """What came of a command. Output beyond the limit is read and dropped."""

    exit_code: int
    """As of `subprocess`: negative when a signal ended it."""
    output: bytes
    error_output: bytes
    timed_out: bool = False
    output_cut: bool = False
    error_output_cut: bool = False


def run_bounded(
    command: Sequence[str | Path],
    *,
    limit_s: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    max_output_bytes: int = _MIB,
) -> CommandOutcome:
    """Run `command` in a process group of its own, without a shell and without input.

    When it ends, or the limit is over, its whole group is killed.
    Raises `OSError` when it cannot be executed. Safe from any thread.
    """
    deadline = time.monotonic() + limit_s
    kept: dict[Stream, _Kept] = {"out": _Kept(max_output_bytes), "err": _Kept(max_output_bytes)}
    exit_code = run_watched(
        command,
        cwd=folder,
        environment=environment,
        on_output=lambda stream, data: kept[stream].add(data),
        may_continue=lambda: time.monotonic() < deadline,
    )
    return CommandOutcome(
        exit_code=-signal.SIGKILL if exit_code is None else exit_code,
        output=bytes(kept["out"].data),
        error_output=bytes(kept["err"].data),
        timed_out=exit_code is None,
        output_cut=kept["out"].is_cut,
        error_output_cut=kept["err"].is_cut,
    )


class _Kept:
    """The beginning of an output."""

    def __init__(self, max_bytes: int) -> None:
        self.data = bytearray()
        self.is_cut = False
        self._max_bytes = max_bytes

    def add(self, data: bytes) -> None:
        room = self._max_bytes - len(self.data)
        self.data += data[:room]
        self.is_cut |= len(data) > room
