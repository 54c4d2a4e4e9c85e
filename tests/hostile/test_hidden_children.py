"""A hidden child is ended with its run, or the reason says that it may be left."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mosaic.contract.process_identity import live_processes
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.run_states import RunState
from tests.support.daemon import DaemonUnderTest, eventually

SubmitAttack = Callable[[str], str]

pytestmark = pytest.mark.process

_COMMAND_LINE = b"sleep\x003.14159e3\x00"


def _find_hidden() -> list[int]:
    pids = []
    for process in live_processes():
        try:
            if Path(f"/proc/{process.pid}/cmdline").read_bytes() == _COMMAND_LINE:
                pids.append(process.pid)
        except OSError:
            continue
    return pids


@pytest.fixture
def hidden_children() -> Iterator[Callable[[], list[int]]]:
    before = set(_find_hidden())
    yield lambda: [pid for pid in _find_hidden() if pid not in before]
    for pid in set(_find_hidden()) - before:
        os.kill(pid, signal.SIGKILL)


def _kill_supervisor(daemon: DaemonUnderTest, run_id: str) -> StartedRecord:
    started = StartedRecord.read(daemon.run(run_id).started)
    assert started is not None
    os.kill(started.supervisor.pid, signal.SIGKILL)
    return started


def test_the_daemon_adopts_and_ends_it(
    daemon: DaemonUnderTest, submit_attack: SubmitAttack, hidden_children: Callable[[], list[int]]
) -> None:
    """The daemon that started the supervisor becomes the parent of its orphans."""
    run_id = submit_attack("hidden_child")
    daemon.until(run_id, RunState.RUNNING)
    eventually(hidden_children)
    _kill_supervisor(daemon, run_id)
    record = daemon.until(run_id)
    assert (record.state, hidden_children()) == ("lost", [])
    assert "all its processes are gone" in record.reason


def test_another_daemon_ends_it_or_reports_that_it_may_be_left(
    daemon: DaemonUnderTest, submit_attack: SubmitAttack, hidden_children: Callable[[], list[int]]
) -> None:
    """A daemon that reattached to the run finds the child in the run's control group.

    Without such a group it cannot find the child, and the reason says so.
    """
    run_id = submit_attack("hidden_child")
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
