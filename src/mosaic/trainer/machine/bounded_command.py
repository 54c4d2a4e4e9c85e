"""A short command that can neither hang us nor flood us.

Asked of drivers, of a worker's Python and for a dry run; runs have a supervisor instead.
"""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

_MIB = 1 << 20
_PART_BYTES = 1 << 16
_KILL_PATIENCE_S = 2.0
"""A process that waits for a broken driver does not even die of SIGKILL."""


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
    most_output_bytes: int = _MIB,
) -> CommandOutcome:
    """Run `command` in a process group of its own, without a shell and without input.

    When it ends, or the limit is over, its whole group is killed.
    Raises `OSError` when it cannot be executed. Safe from any thread.
    """
    deadline = time.monotonic() + limit_s
    process = subprocess.Popen(
        command,
        env=None if environment is None else dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None  # noqa: S101 - it was asked for as a pipe
    assert process.stderr is not None  # noqa: S101 - it was asked for as a pipe
    with process.stdout, process.stderr, ExitStack() as ending:
        ending.callback(_end_group, process)
        output = _Intake(process.stdout.fileno(), most_output_bytes)
        error_output = _Intake(process.stderr.fileno(), most_output_bytes)
        ended = _read_until_exit(process.pid, (output, error_output), deadline)
        ending.close()
        # What it wrote before it ended is in the pipes; a child that got away may hold them open.
        output.read_available()
        error_output.read_available()
    return CommandOutcome(
        exit_code=-signal.SIGKILL if process.returncode is None else process.returncode,
        output=bytes(output.kept),
        error_output=bytes(error_output.kept),
        timed_out=not ended,
        output_cut=output.is_cut,
        error_output_cut=error_output.is_cut,
    )


class _Intake:
    """One pipe, read without ever waiting for it."""

    def __init__(self, descriptor: int, most_bytes: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.kept = bytearray()
        self.is_cut = False
        self._most_bytes = most_bytes

    def read_available(self) -> None:
        while self.read_part():
            pass

    def read_part(self) -> bool:
        """False when there is nothing now, or will never be."""
        try:
            part = os.read(self.descriptor, _PART_BYTES)
        except BlockingIOError:
            return False
        room = self._most_bytes - len(self.kept)
        self.kept += part[:room]
        self.is_cut |= len(part) > room
        return bool(part)


def _read_until_exit(pid: int, intakes: Sequence[_Intake], deadline: float) -> bool:
    """Keep the pipes from filling up; whether the process ended before the deadline."""
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        by_descriptor = {intake.descriptor: intake for intake in intakes}
        for descriptor in by_descriptor:
            poll.register(descriptor, select.POLLIN)
        while (remaining_s := deadline - time.monotonic()) > 0:
            ready = [descriptor for descriptor, _ in poll.poll(remaining_s * 1000)]
            if handle in ready:
                return True
            for descriptor in ready:
                if not by_descriptor[descriptor].read_part():
                    poll.unregister(descriptor)  # closed by the process
        return False
    finally:
        os.close(handle)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """The process is not reaped yet, so the group's number is still its own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        process.wait(_KILL_PATIENCE_S)
    except subprocess.TimeoutExpired:
        threading.Thread(target=process.wait, name=f"reap {process.pid}", daemon=True).start()
