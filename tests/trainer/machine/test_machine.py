"""CPUs, memory, disk and network as containers and services limit them."""

import os
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.trainer.machine.machine import Machine
from tests.trainer.machine.conftest import FakeMachine

MEMINFO = "MemTotal:       16384000 kB\nMemFree: 100 kB\nMemAvailable:    8192000 kB\n"


def test_cpus_are_those_that_this_process_may_use(fake: FakeMachine) -> None:
    """Affinity counts, not what the machine has."""
    assert fake.machine(cpus=3).cpus() == 3


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 8), ("400000 100000", 4), ("150000 100000", 1), ("50000 100000", 1), ("", 8)],
)
def test_a_quota_limits_the_cpus(fake: FakeMachine, quota: str, expected: int) -> None:
    """In a container with a CPU quota only whole CPUs are offered, and at least one."""
    fake.put("proc/self/cgroup", "0::/\n")
    fake.put("sys/fs/cgroup/cpu.max", quota)
    assert fake.machine().cpus() == expected


def test_the_tightest_group_on_the_way_up_counts(fake: FakeMachine) -> None:
    """A service inside a slice has the limits of both."""
    fake.put("proc/self/cgroup", "0::/user.slice/mosaic.service\n")
    fake.put("proc/meminfo", MEMINFO)
    group = "sys/fs/cgroup/user.slice"
    fake.put(f"{group}/cpu.max", "200000 100000\n")
    fake.put(f"{group}/mosaic.service/cpu.max", "600000 100000\n")
    fake.put(f"{group}/memory.max", "max\n")
    fake.put(f"{group}/mosaic.service/memory.max", f"{2 << 30}\n")
    assert fake.machine().cpus() == 2
    assert fake.machine().memory_mb() == 2048


def test_a_container_that_does_not_see_its_group_by_name_is_limited_by_the_root(
    fake: FakeMachine,
) -> None:
    """Docker shows the host's name of a group that is mounted as the root."""
    fake.put("proc/self/cgroup", "0::/system.slice/docker-abc.scope\n")
    fake.put("proc/meminfo", MEMINFO)
    fake.put("sys/fs/cgroup/memory.max", str(1 << 30))
    assert fake.machine().memory_mb() == 1024


def test_the_first_version_of_control_groups_limits_too(fake: FakeMachine) -> None:
    """Its "no limit" is a number; a real limit is kept."""
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


def test_memory_is_what_the_machine_has(fake: FakeMachine) -> None:
    """Without a limit the total memory; available memory is separate."""
    fake.put("proc/meminfo", MEMINFO)
    assert fake.machine().memory_mb() == 16000
    assert fake.machine().available_memory_mb() == 8000


def test_a_limit_above_the_machine_changes_nothing(fake: FakeMachine) -> None:
    """A group may be allowed more than there is."""
    fake.put("proc/meminfo", MEMINFO)
    fake.put("proc/self/cgroup", "0::/\n")
    fake.put("sys/fs/cgroup/memory.max", str(1 << 40))
    assert fake.machine().memory_mb() == 16000


def test_free_space_of_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    """The home may be new."""
    statistics = os.statvfs(tmp_path)
    free = Machine().disk_free_bytes(tmp_path / "not" / "yet")
    assert 0 < free <= statistics.f_blocks * statistics.f_frsize


def test_unknown_free_space_is_an_error(tmp_path: Path) -> None:
    """A place that the file system refuses to look at says what to do."""
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
def test_a_default_route_is_a_way_to_the_network(
    fake: FakeMachine, route: str, ipv6_route: str, expected: bool
) -> None:
    """The route to nowhere that every machine has is none."""
    fake.put("proc/net/route", f"Iface\tDestination\tGateway\tFlags\n{route}\n")
    fake.put("proc/net/ipv6_route", ipv6_route)
    assert fake.machine().has_network() is expected


def test_a_proxy_is_a_way_to_the_network(fake: FakeMachine) -> None:
    """Machines behind a proxy often have no route of their own."""
    fake.environ["https_proxy"] = "http://proxy:3128"
    assert fake.machine().has_network()


def test_this_machine_answers() -> None:
    """The real files are understood too."""
    machine = Machine()
    assert 1 <= machine.cpus() <= (os.cpu_count() or 1)
    assert machine.available_memory_mb() <= machine.memory_mb()
    assert machine.memory_mb() > 0
