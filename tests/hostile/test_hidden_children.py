"""A child that hides is ended with its run, or the daemon does not claim that it is gone."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mosaic.contract.process_identity import live_processes
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.run_states import RunState
from tests.support.daemon import DaemonUnderTest, eventually

Play = Callable[[str], str]

pytestmark = pytest.mark.process

_COMMAND_LINE = b"sleep\x003.14159e3\x00"


def _hidden() -> list[int]:
    found = []
    for process in live_processes():
        try:
            if Path(f"/proc/{process.pid}/cmdline").read_bytes() == _COMMAND_LINE:
                found.append(process.pid)
        except OSError:
            continue
    return found


@pytest.fixture
def hidden_children() -> Iterator[Callable[[], list[int]]]:
    before = set(_hidden())
    yield lambda: [pid for pid in _hidden() if pid not in before]
    for pid in set(_hidden()) - before:
        os.kill(pid, signal.SIGKILL)


def _kill_supervisor(daemon: DaemonUnderTest, run_id: str) -> StartedRecord:
    started = StartedRecord.read(daemon.run(run_id).started)
    assert started is not None
    os.kill(started.supervisor.pid, signal.SIGKILL)
    return started


def test_the_daemon_adopts_and_ends_it(
    daemon: DaemonUnderTest, play: Play, hidden_children: Callable[[], list[int]]
) -> None:
    """The daemon that started the supervisor is the next parent of what it leaves behind."""
    run_id = play("hidden_child")
    daemon.until(run_id, RunState.RUNNING)
    eventually(hidden_children)
    _kill_supervisor(daemon, run_id)
    record = daemon.until(run_id)
    assert (record.state, hidden_children()) == ("lost", [])
    assert "all its processes are gone" in record.reason


def test_another_daemon_finds_it_or_does_not_claim_it(
    daemon: DaemonUnderTest, play: Play, hidden_children: Callable[[], list[int]]
) -> None:
    """A daemon that reattached to the run finds the child in the run's control group.

    Where there is no such group it cannot know of the child, and says so.
    """
    run_id = play("hidden_child")
    daemon.until(run_id, RunState.RUNNING)
    eventually(hidden_children)
    daemon.restart()
    started = _kill_supervisor(daemon, run_id)
    record = daemon.until(run_id)
    assert record.state == "lost"
    if started.cgroup:
        assert hidden_children() == []
        assert "all its processes are gone" in record.reason
    else:
        assert "one that left its session and cleared its environment" in record.reason
