"""Machine: the resources for runs: CPUs, memory, GPUs, disk space, network.

Used by the dispatcher, preflight and `GetHealth`. Limits of control groups (containers, services)
are respected, in both versions.
"""

import os
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.trainer.machine.gpus import Gpu, GpuSearch, find_amd, find_nvidia

_NO_LIMIT_BYTES = 1 << 60
"""Version 1 represents "no limit" by a number close to the maximum."""


@dataclass(frozen=True, slots=True)
class CgroupLimits:
    """None: no limit."""

    cpus: float | None
    memory_bytes: int | None


def cgroup_limits(proc: Path, sys: Path) -> CgroupLimits:
    """The lowest limits from this process's group up to the root."""
    cpus: list[float] = []
    memory: list[int] = []
    for folder in _own_groups(proc, sys / "fs" / "cgroup"):
        cpus += _cpus(folder)
        memory += _memory(folder)
    return CgroupLimits(min(cpus, default=None), min(memory, default=None))


def _own_groups(proc: Path, mount: Path) -> Iterator[Path]:
    """Folders of the groups and their ancestors; some may not exist inside a container."""
    for line in _text(proc / "self" / "cgroup").splitlines():
        _, _, controllers_and_path = line.partition(":")
        controllers, _, path = controllers_and_path.partition(":")
        roots = [mount / name for name in controllers.split(",")] if controllers else [mount]
        inside = Path(path.lstrip("/"))
        for root in roots:
            for folder_name in (inside, *inside.parents):
                yield root / folder_name


def _cpus(folder: Path) -> Iterator[float]:
    quota, _, period = _text(folder / "cpu.max").partition(" ")
    if not quota:
        quota = _text(folder / "cpu.cfs_quota_us")
        period = _text(folder / "cpu.cfs_period_us")
    # Not a number: `max` in version 2, -1 in version 1.
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


_GPU_CACHE_S = 60.0
_DEFAULT_ROUTE = "00000000"
_DEFAULT_ROUTE_V6 = "0" * 32


def _own_cpus() -> Collection[int]:
    return os.sched_getaffinity(0)


class Machine:
    """Reads the system on each call, without torch. Safe from any thread."""

    def __init__(
        self,
        *,
        proc: Path = Path("/proc"),
        sys: Path = Path("/sys"),
        dev: Path = Path("/dev"),
        environ: Mapping[str, str] = os.environ,
        affinity: Callable[[], Collection[int]] = _own_cpus,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._proc = proc
        self._sys = sys
        self._dev = dev
        self._environ = environ
        self._affinity = affinity
        self._clock = clock
        self._gpu_lock = threading.Lock()
        self._gpu_search: tuple[float, GpuSearch] | None = None

    def cpus(self) -> int:
        """Number of CPUs that this process may use, rounded down."""
        usable = len(self._affinity())
        quota = cgroup_limits(self._proc, self._sys).cpus
        return usable if quota is None else max(1, min(usable, int(quota)))

    def memory_mb(self) -> int:
        """Total memory, or the limit of the control group."""
        total = self._meminfo_bytes("MemTotal")
        limit = cgroup_limits(self._proc, self._sys).memory_bytes
        return (total if limit is None else min(total, limit)) >> 20

    def available_memory_mb(self) -> int:
        """Memory that can be used now without swapping, at most `memory_mb`."""
        return min(self._meminfo_bytes("MemAvailable") >> 20, self.memory_mb())

    def gpus(self) -> tuple[Gpu, ...]:
        """The GPUs that are visible to this process."""
        return self.gpu_search().gpus

    def gpu_search(self) -> GpuSearch:
        """The GPUs, or the reason why there are none. Cached for a minute."""
        with self._gpu_lock:
            now = self._clock()
            if self._gpu_search is None or now - self._gpu_search[0] > _GPU_CACHE_S:
                self._gpu_search = (now, self._search_gpus())
            return self._gpu_search[1]

    def disk_free_bytes(self, path: Path) -> int:
        """Free disk space for a normal user at `path`, which need not exist yet."""
        existing = path.absolute()
        try:
            while not existing.exists() and existing != existing.parent:
                existing = existing.parent
            return shutil.disk_usage(existing).free
        except OSError as error:
            raise UserError(
                f"The free space at {existing} cannot be determined: {error.strerror}.",
                remedy="Check that the disk is mounted, readable and within its quota.",
                code="T340",
            ) from error

    def has_network(self) -> bool:
        """Whether there is a default route or a proxy."""
        names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
        if any(self._environ.get(name) or self._environ.get(name.lower()) for name in names):
            return True
        v4 = (line.split()[1:2] for line in self._lines("net/route"))
        v6 = (line.split() for line in self._lines("net/ipv6_route"))
        return [_DEFAULT_ROUTE] in v4 or any(
            route[:2] == [_DEFAULT_ROUTE_V6, "00"] and route[-1:] != ["lo"] for route in v6
        )

    def _search_gpus(self) -> GpuSearch:
        nvidia = find_nvidia(self._proc, self._dev, self._environ)
        if nvidia.gpus:
            return nvidia  # one vendor only: no framework trains on both
        amd = find_amd(self._sys, self._dev, self._environ)
        return amd if amd.gpus else GpuSearch(reason=f"{nvidia.reason}; {amd.reason}")

    def _meminfo_bytes(self, name: str) -> int:
        for line in self._lines("meminfo"):
            field, _, value = line.partition(":")
            if field == name:
                return int(value.split()[0]) << 10
        return 0

    def _lines(self, name: str) -> list[str]:
        try:
            return (self._proc / name).read_text(encoding="ascii", errors="replace").splitlines()
        except OSError:
            return []
