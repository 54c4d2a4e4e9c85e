"""What the control groups above this process let it have: the limits of containers and services.

Read by `machine.py`. Both versions, because machines with the first one are still about.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NO_LIMIT_BYTES = 1 << 60
"""The first version says "no limit" with a number near the greatest there is."""


@dataclass(frozen=True, slots=True)
class CgroupLimits:
    """None: no limit."""

    cpus: float | None
    memory_bytes: int | None


def cgroup_limits(proc: Path, sys: Path) -> CgroupLimits:
    """The tightest limits on the way from this process's group up to the root."""
    cpus: list[float] = []
    memory: list[int] = []
    for folder in _own_groups(proc, sys / "fs" / "cgroup"):
        cpus += _cpus(folder)
        memory += _memory(folder)
    return CgroupLimits(min(cpus, default=None), min(memory, default=None))


def _own_groups(proc: Path, mount: Path) -> Iterator[Path]:
    """Folders of the groups, each with its ancestors; some may not exist inside a container."""
    for line in _text(proc / "self" / "cgroup").splitlines():
        _, _, controllers_and_path = line.partition(":")
        controllers, _, path = controllers_and_path.partition(":")
        roots = [mount / name for name in controllers.split(",")] if controllers else [mount]
        inside = Path(path.lstrip("/"))
        for root in roots:
            for part in (inside, *inside.parents):
                yield root / part


def _cpus(folder: Path) -> Iterator[float]:
    quota, _, period = _text(folder / "cpu.max").partition(" ")
    if not quota:
        quota = _text(folder / "cpu.cfs_quota_us")
        period = _text(folder / "cpu.cfs_period_us")
    # Not a number: `max` in the second version, -1 in the first.
    if quota.isdecimal() and period.isdecimal() and int(quota) > 0 and int(period) > 0:
        yield int(quota) / int(period)


def _memory(folder: Path) -> Iterator[int]:
    limit = _text(folder / "memory.max") or _text(folder / "memory.limit_in_bytes")
    if limit.isdecimal() and 0 < int(limit) < _NO_LIMIT_BYTES:
        yield int(limit)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
