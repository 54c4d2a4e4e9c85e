"""ProcessIdentity: a process that cannot be confused with a later one of the same pid.

`endpoint.json` and `started.json` identify their processes this way. The supervisor reads the same
fields without this module, because it imports only the standard library.
"""

import errno
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
_DEAD_STATES = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """Fields of `/proc/PID/stat`."""

    pid: int
    name: str
    state: str
    parent: int
    group: int
    session: int
    start_ticks: int

    @property
    def is_dead(self) -> bool:
        """A zombie has ended, though its parent has not reaped it yet."""
        return self.state in _DEAD_STATES


def parse_stat(line: bytes) -> ProcessStat:
    """Parse a line of `/proc/PID/stat`. The name, which may contain `)`, ends at the last one."""
    head, _, tail = line.rpartition(b")")
    pid, _, name = head.partition(b" (")
    fields = tail.split()
    return ProcessStat(
        pid=int(pid),
        name=name.decode(errors="replace"),
        state=fields[0].decode(),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        start_ticks=int(fields[19]),
    )


def read_stat(pid: int) -> ProcessStat | None:
    """Return the fields of a process; None if it does not exist or is not visible."""
    try:
        return parse_stat((_PROC / str(pid) / "stat").read_bytes())
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def live_processes() -> Iterator[ProcessStat]:
    """Yield all processes that have not ended. One that starts meanwhile may be missing."""
    for name in os.listdir(_PROC):  # noqa: PTH208 - a Path per process would cost more than the read
        if name.isdigit():
            stat = read_stat(int(name))
            if stat is not None and not stat.is_dead:
                yield stat


def environment_of(pid: int) -> dict[str, str]:
    """Return the environment at the process's start; empty if it ended or is not readable."""
    try:
        block = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return {}
    entries = (os.fsdecode(entry).partition("=") for entry in block.split(b"\0") if entry)
    return {name: value for name, _, value in entries}


def user_of(pid: int) -> int | None:
    """Return the effective user id; None if there is no such process.

    (The owner of `/proc/PID` can be root for a process of any user.)
    """
    try:
        status = (_PROC / str(pid) / "status").read_bytes()
    except OSError:
        return None
    _, _, fields = status.partition(b"\nUid:")
    return int(fields.split(maxsplit=2)[1])


def output_files_of(pid: int) -> set[str]:
    """Return the targets of the stdout and stderr of the process."""
    targets = set()
    for descriptor in ("1", "2"):
        try:
            targets.add(str((_PROC / str(pid) / "fd" / descriptor).readlink()))
        except OSError:
            continue
    return targets


@cache
def boot_id() -> str:
    """Return the id of the current boot; start times and pids are valid within one boot only."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A pid with its start time and boot."""

    pid: int
    start_ticks: int
    boot_id: str

    @classmethod
    def of(cls, pid: int) -> "ProcessIdentity | None":
        """Return the identity of the process with this pid; None if there is none."""
        stat = read_stat(pid)
        return None if stat is None else cls(pid, stat.start_ticks, boot_id())

    def is_alive(self) -> bool:
        """False for a zombie, for another process with this pid, and after a reboot."""
        if self.boot_id != boot_id():
            return False
        stat = read_stat(self.pid)
        return stat is not None and not stat.is_dead and stat.start_ticks == self.start_ticks

    def send(self, number: signal.Signals) -> bool:
        """Signal this process; returns False if it has ended. Safe against pid reuse."""
        with self._handle() as handle:
            if handle is None:
                return False
            try:
                signal.pidfd_send_signal(handle, number)
            except ProcessLookupError:
                return False
            return True

    def send_to_group(self, number: signal.Signals) -> bool:
        """Signal the group that this process leads; returns False if the process has ended."""
        if not self.is_alive():
            return False
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def wait(self, timeout_s: float) -> bool:
        """Wait until the process, child or not, has ended; returns False after the timeout."""
        with self._handle() as handle:
            if handle is None:
                return True
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            return bool(poll.poll(max(0.0, timeout_s) * 1000))

    @contextmanager
    def _handle(self) -> Iterator[int | None]:
        """Open a pidfd. The identity is checked afterwards, so that it refers to this process."""
        try:
            handle = os.pidfd_open(self.pid)
        except OSError as error:
            # EINVAL: the number is now the id of a thread.
            if error.errno not in (errno.ESRCH, errno.EINVAL):
                raise
            yield None
            return
        try:
            yield handle if self.is_alive() else None
        finally:
            os.close(handle)
