"""A process that cannot be mistaken for a later one with the same pid."""

import errno
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mosaic.trainer.processes.process_table import read_stat


@cache
def boot_id() -> str:
    """Of the running kernel: start times and pids mean nothing across boots."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A pid with the moment of its start."""

    pid: int
    start_ticks: int
    boot_id: str

    @classmethod
    def of(cls, pid: int) -> "ProcessIdentity | None":
        """Of the process that has the pid now."""
        stat = read_stat(pid)
        return None if stat is None else cls(pid, stat.start_ticks, boot_id())

    def is_alive(self) -> bool:
        """False for a zombie, for another process with this pid, and after a reboot."""
        if self.boot_id != boot_id():
            return False
        stat = read_stat(self.pid)
        return stat is not None and not stat.is_dead and stat.start_ticks == self.start_ticks

    def send(self, number: signal.Signals) -> bool:
        """Signals this very process; False when it is gone. Free of races with pid reuse."""
        with self._handle() as handle:
            if handle is None:
                return False
            try:
                signal.pidfd_send_signal(handle, number)
            except ProcessLookupError:
                return False
            return True

    def send_to_group(self, number: signal.Signals) -> bool:
        """Signals the group that this process leads; False, and no signal, when it is gone."""
        if not self.is_alive():
            return False
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def wait(self, timeout_s: float) -> bool:
        """Waits for its end, child of ours or not; whether it came within the time."""
        with self._handle() as handle:
            if handle is None:
                return True
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            return bool(poll.poll(max(0.0, timeout_s) * 1000))

    @contextmanager
    def _handle(self) -> Iterator[int | None]:
        """A pidfd. The identity is checked after opening it: from then on it is this process."""
        try:
            handle = os.pidfd_open(self.pid)
        except OSError as error:
            if error.errno not in (
                errno.ESRCH,
                errno.EINVAL,
            ):  # EINVAL: now a thread has the number
                raise
            yield None
            return
        try:
            yield handle if self.is_alive() else None
        finally:
            os.close(handle)
