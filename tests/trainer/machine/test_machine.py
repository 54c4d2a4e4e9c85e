"""CPUs, memory, disk and network, including limits of containers and services."""

import os
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.trainer.machine.machine import Machine
from tests.trainer.machine.conftest import FakeMachine

MEMINFO = "MemTotal:       16384000 kB\nMemFree: 100 kB\nMemAvailable:    8192000 kB\n"


def test_cpus_are_those_that_this_process_may_use(fake: FakeMachine) -> None:
    """The CPU affinity is used, not the number of CPUs of the machine."""
    assert fake.machine(cpus=3).cpus() == 3


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 8), ("400000 100000", 4), ("150000 100000", 1), ("50000 100000", 1), ("", 8)],
)
def test_a_quota_limits_the_cpus(fake: FakeMachine, quota: str, expected: int) -> None:
    """A CPU quota is rounded down, with a minimum of one."""
    fake.put("proc/self/cgroup", "0::/\n")
    fake.put("sys/fs/cgroup/cpu.max", quota)
    assert fake.machine().cpus() == expected


def test_the_lowest_limit_of_all_parent_groups_applies(fake: FakeMachine) -> None:
    """A service in a slice has the limits of both."""
    fake.put("proc/self/cgroup", "0::/user.slice/mosaic.service\n")
    fake.put("proc/meminfo", MEMINFO)
    group = "sys/fs/cgroup/user.slice"
    fake.put(f"{group}/cpu.max", "200000 100000\n")
    fake.put(f"{group}/mosaic.service/cpu.max", "600000 100000\n")
    fake.put(f"{group}/memory.max", "max\n")
    fake.put(f"{group}/mosaic.service/memory.max", f"{2 << 30}\n")
    assert fake.machine().cpus() == 2
    assert fake.machine().memory_mb() == 2048


def test_a_container_with_an_unknown_group_name_uses_the_root_limits(
    fake: FakeMachine,
) -> None:
    """Docker shows the host name of a group that is mounted as the root."""
    fake.put("proc/self/cgroup", "0::/system.slice/docker-abc.scope\n")
    fake.put("proc/meminfo", MEMINFO)
    fake.put("sys/fs/cgroup/memory.max", str(1 << 30))
    assert fake.machine().memory_mb() == 1024


def test_limits_of_cgroup_v1(fake: FakeMachine) -> None:
    """Version 1 uses a large number for "no limit"."""
    fake.put("proc/self/cgroup", "4:memory:/job\n2:cpu,cpuacct:/job\n0::/\n")
    fake.put("proc/meminfo", MEMINFO)
    fake.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    fake.put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", f"{512 << 20}\n")
    fake.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    fake.put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    fake.put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n")
    fake.put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n")
    assert fake.machine().memory_mb() == 512
    assert fake.machine().cpus() == 3


def test_memory_without_a_limit(fake: FakeMachine) -> None:
    """Total and available memory are read from meminfo."""
    fake.put("proc/meminfo", MEMINFO)
    assert fake.machine().memory_mb() == 16000
    assert fake.machine().available_memory_mb() == 8000


def test_a_limit_above_the_total_memory_is_ignored(fake: FakeMachine) -> None:
    """The limit of a group may exceed the memory of the machine."""
    fake.put("proc/meminfo", MEMINFO)
    fake.put("proc/self/cgroup", "0::/\n")
    fake.put("sys/fs/cgroup/memory.max", str(1 << 40))
    assert fake.machine().memory_mb() == 16000


def test_free_space_of_a_missing_folder(tmp_path: Path) -> None:
    """The free space of its closest existing parent is returned."""
    statistics = os.statvfs(tmp_path)
    free = Machine().disk_free_bytes(tmp_path / "not" / "yet")
    assert 0 < free <= statistics.f_blocks * statistics.f_frsize


def test_unknown_free_space_is_an_error(tmp_path: Path) -> None:
    """The error has a remedy."""
    with pytest.raises(UserError, match="T340") as caught:
        Machine().disk_free_bytes(tmp_path / ("n" * 300))
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("route", "ipv6_route", "expected"),
    [
        ("eth0 00000000 010200C0 0003", "", True),
        ("eth0 000200C0 00000000 0001", "", False),
        ("", f"{'0' * 32} 00 {'0' * 32} 00 {'f' * 32} 0 0 0 0 eth0", True),
        ("", f"{'0' * 32} 00 {'0' * 32} 00 {'0' * 32} 0 0 0 0 lo", False),
        ("", "", False),
    ],
)
def test_a_default_route_means_network_access(
    fake: FakeMachine, route: str, ipv6_route: str, expected: bool
) -> None:
    """The loopback default route is ignored."""
    fake.put("proc/net/route", f"Iface\tDestination\tGateway\tFlags\n{route}\n")
    fake.put("proc/net/ipv6_route", ipv6_route)
    assert fake.machine().has_network() is expected


def test_a_proxy_means_network_access(fake: FakeMachine) -> None:
    """Machines behind a proxy may have no default route."""
    fake.environ["https_proxy"] = "http://proxy:3128"
    assert fake.machine().has_network()


def test_the_real_machine() -> None:
    """The files of the real machine can be read."""
    machine = Machine()
    assert 1 <= machine.cpus() <= (os.cpu_count() or 1)
    assert machine.available_memory_mb() <= machine.memory_mb()
    assert machine.memory_mb() > 0
