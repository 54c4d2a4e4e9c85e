"""One process of this machine, which no later process with the same pid is taken for."""

import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class ProcessHandle:
    """Made by `open`; refers to the same process for as long as it is open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    @contextmanager
    def open(cls, pid: int, start_ticks: int, boot_id: str) -> "Iterator[ProcessHandle | None]":
        """The process that started at `start_ticks` of that boot; None when it is gone."""
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            yield None
            return
        try:
            # Checked after opening: from then on the descriptor means this process.
            is_it = _boot_id() == boot_id and _start_ticks(pid) == start_ticks
            yield cls(descriptor) if is_it else None
        finally:
            os.close(descriptor)

    def send(self, number: signal.Signals) -> None:
        """Signals the process, if it is still there."""
        try:
            signal.pidfd_send_signal(self._descriptor, number)
        except ProcessLookupError:
            return

    def wait(self, timeout_s: float) -> bool:
        """Whether it ended within the time."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _start_ticks(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return int(stat.rpartition(b")")[2].split()[19])
