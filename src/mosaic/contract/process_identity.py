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
    """The name may contain spaces and parentheses: it ends at the last parenthesis."""
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
    """None when there is no such process, or it is not visible to us."""
    try:
        return parse_stat((_PROC / str(pid) / "stat").read_bytes())
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def live_processes() -> Iterator[ProcessStat]:
    """All processes that have not ended. One that starts during the call may be missing."""
    for name in os.listdir(_PROC):  # noqa: PTH208 - a Path per process would cost more than the read
        if name.isdigit():
            stat = read_stat(int(name))
            if stat is not None and not stat.is_dead:
                yield stat


def environment_of(pid: int) -> dict[str, str]:
    """The environment the process was started with; empty when it is gone or not readable."""
    try:
        block = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return {}
    entries = (os.fsdecode(entry).partition("=") for entry in block.split(b"\0") if entry)
    return {name: value for name, _, value in entries}


def user_of(pid: int) -> int | None:
    """The effective user id; None if there is no such process.

    (The owner of `/proc/PID` can be root for a process of any user.)
    """
    try:
        status = (_PROC / str(pid) / "status").read_bytes()
    except OSError:
        return None
    _, _, fields = status.partition(b"\nUid:")
    return int(fields.split(maxsplit=2)[1])


def output_files_of(pid: int) -> set[str]:
    """The targets of the stdout and stderr of the process."""
    targets = set()
    for descriptor in ("1", "2"):
        try:
            targets.add(str((_PROC / str(pid) / "fd" / descriptor).readlink()))
        except OSError:
            continue
    return targets


@cache
def boot_id() -> str:
    """Of the running kernel: start times and pids are valid within one boot only."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A pid with its start time and boot."""

    pid: int
    start_ticks: int
    boot_id: str

    @classmethod
    def of(cls, pid: int) -> "ProcessIdentity | None":
        """The process that has the pid now; None if there is none."""
        stat = read_stat(pid)
        return None if stat is None else cls(pid, stat.start_ticks, boot_id())

    def is_alive(self) -> bool:
        """False for a zombie, for another process with this pid, and after a reboot."""
        if self.boot_id != boot_id():
            return False
        stat = read_stat(self.pid)
        return stat is not None and not stat.is_dead and stat.start_ticks == self.start_ticks

    def send(self, number: signal.Signals) -> bool:
        """Signal this process; False when it is gone. Safe against pid reuse."""
        with self._handle() as handle:
            if handle is None:
                return False
            try:
                signal.pidfd_send_signal(handle, number)
            except ProcessLookupError:
                return False
            return True

    def send_to_group(self, number: signal.Signals) -> bool:
        """Signal the group that this process leads; False, and no signal, when it is gone."""
        if not self.is_alive():
            return False
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def wait(self, timeout_s: float) -> bool:
        """Wait for its end, child or not; returns whether it ended in time."""
        with self._handle() as handle:
            if handle is None:
                return True
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            return bool(poll.poll(max(0.0, timeout_s) * 1000))

    @contextmanager
    def _handle(self) -> Iterator[int | None]:
        """A pidfd. The identity is checked after opening it, so that it refers to this process."""
        try:
            handle = os.pidfd_open(self.pid)
        except OSError as error:
            if error.errno not in (
                errno.ESRCH,
                errno.EINVAL,
            ):  # EINVAL: a thread has the number now
                raise
            yield None
            return
        try:
            yield handle if self.is_alive() else None
        finally:
            os.close(handle)
