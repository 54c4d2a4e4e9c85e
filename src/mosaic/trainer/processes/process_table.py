"""What `/proc` says about processes, read without trusting their names."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_DEAD_STATES = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """One line of `/proc/PID/stat`, as far as it matters here."""

    pid: int
    name: str
    state: str
    parent: int
    group: int
    session: int
    start_ticks: int

    @property
    def is_dead(self) -> bool:
        """A zombie has ended, though its parent has not asked for its exit code yet."""
        return self.state in _DEAD_STATES


def parse_stat(line: bytes) -> ProcessStat:
    """The name is whatever the process chose, spaces and parentheses included: it ends at the
    last parenthesis."""
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
    """None when there is no such process, or none that we may see."""
    try:
        return parse_stat((_PROC / str(pid) / "stat").read_bytes())
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def live_processes() -> Iterator[ProcessStat]:
    """All processes that have not ended. One that starts meanwhile may be missing: look again."""
    for name in os.listdir(_PROC):  # noqa: PTH208 - a Path per process would cost more than the read
        if name.isdigit():
            stat = read_stat(int(name))
            if stat is not None and not stat.is_dead:
                yield stat


def environment_of(pid: int) -> dict[str, str]:
    """With what the process was started; empty when it is gone, or not ours to read."""
    try:
        block = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return {}
    entries = (os.fsdecode(entry).partition("=") for entry in block.split(b"\0") if entry)
    return {name: value for name, _, value in entries}


def output_files_of(pid: int) -> set[str]:
    """Where the stdout and stderr of the process go."""
    targets = set()
    for descriptor in ("1", "2"):
        try:
            targets.add(str((_PROC / str(pid) / "fd" / descriptor).readlink()))
        except OSError:
            continue
    return targets
