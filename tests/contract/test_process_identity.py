"""A process is distinguished from a later one with the same pid."""

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from mosaic.contract.process_identity import ProcessIdentity, parse_stat, read_stat

SLEEPER = "import signal; signal.pause()"


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", SLEEPER]) as process:
        yield process
        process.kill()


def identity_of(process: "subprocess.Popen[bytes]") -> ProcessIdentity:
    identity = ProcessIdentity.of(process.pid)
    assert identity is not None
    return identity


@pytest.mark.parametrize("name", [b"python", b"a b", b"x) S 1 2 3 (", b"((", b"))", b") R 9", b""])
def test_a_name_cannot_forge_the_fields_after_it(name: bytes) -> None:
    """Spaces and parentheses in a process name do not shift the fields of its stat line."""
    tail = b" S 10 20 30 " + b"0 " * 15 + b"987654 0 0"
    stat = parse_stat(b"42 (" + name + b")" + tail)
    assert (stat.pid, stat.state, stat.parent, stat.group, stat.session) == (42, "S", 10, 20, 30)
    assert stat.start_ticks == 987654
    assert stat.name == name.decode()


def test_a_real_process_with_a_misleading_name() -> None:
    """The identity of a process named `) R (` is read from the kernel's own line."""
    code = "open('/proc/self/comm', 'w').write(') R ('); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        stat = read_stat(process.pid)
        assert stat is not None
        assert stat.name == ") R ("
        assert stat.parent == os.getpid()
        assert identity_of(process).is_alive()
        process.kill()


@pytest.mark.process
def test_a_living_process_is_alive(sleeper: "subprocess.Popen[bytes]") -> None:
    """A process is alive while it runs, and while it is stopped."""
    identity = identity_of(sleeper)
    assert identity.is_alive()
    assert identity.send(signal.SIGSTOP)
    assert identity.is_alive()


@pytest.mark.process
def test_a_zombie_is_not_alive(sleeper: "subprocess.Popen[bytes]") -> None:
    """A dead process counts as ended before it is reaped."""
    identity = identity_of(sleeper)
    assert identity.send(signal.SIGKILL)
    assert identity.wait(30)
    stat = read_stat(sleeper.pid)
    assert stat is not None
    assert stat.is_dead
    assert not identity.is_alive()
    assert not identity.send(signal.SIGTERM)


@pytest.mark.process
@pytest.mark.parametrize("change", [{"start_ticks": 1}, {"boot_id": "another boot"}])
def test_another_process_with_the_same_pid_is_not_signalled(
    sleeper: "subprocess.Popen[bytes]", change: dict[str, int | str]
) -> None:
    """With another start time or boot id, the pid belongs to another process."""
    other_process = dataclasses.replace(identity_of(sleeper), **change)  # type: ignore[arg-type]
    assert not other_process.is_alive()
    assert not other_process.send(signal.SIGKILL)
    assert not other_process.send_to_group(signal.SIGKILL)
    assert other_process.wait(0)
    assert identity_of(sleeper).is_alive()


def test_an_unused_pid() -> None:
    """A reaped process is not alive, and waiting for it returns immediately."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", ""]) as process:
        identity = ProcessIdentity.of(process.pid) or ProcessIdentity(process.pid, 0, "")
    assert ProcessIdentity.of(process.pid) is None
    assert not identity.is_alive()
    assert not identity.send(signal.SIGKILL)
    assert identity.wait(30)
