"""A worker cannot stop the daemon through the files of its supervisor."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_records import DamagedRecordError, ExitRecord, StartedRecord
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.trainer.processes.run_process import supervisor_absence
from tests.support.daemon import DaemonUnderTest, eventually

SubmitAttack = Callable[[str], str]

_CALL_TIMEOUT_S = 20.0
_MAX_GROWTH_BYTES = 200 << 20


def _wait_until_ready(daemon: DaemonUnderTest, run_id: str) -> None:
    daemon.until(run_id, RunState.RUNNING)
    eventually(lambda: b"ready" in daemon.run(run_id).spool.read_bytes())


def _memory_of(pid: int) -> int:
    """Return the peak memory so far, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (kib,) = (int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return kib << 10


@pytest.mark.process
@pytest.mark.parametrize("attack", ["fifo", "link", "huge"])
def test_records_in_the_run_directory_are_ignored(
    daemon: DaemonUnderTest, submit_attack: SubmitAttack, attack: str
) -> None:
    """The worker creates files with the names of records; the run can be cancelled like any other.

    Other calls are answered in the meantime, and the daemon can be restarted.
    """
    before = _memory_of(daemon.pid)
    run_id = submit_attack(attack)
    _wait_until_ready(daemon, run_id)
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=0.5), timeout=_CALL_TIMEOUT_S)
    assert daemon.stub.GetHealth(pb.GetHealthRequest(), timeout=_CALL_TIMEOUT_S).pid == daemon.pid
    assert daemon.until(run_id).state == "cancelled"
    assert _memory_of(daemon.pid) - before < _MAX_GROWTH_BYTES
    daemon.restart()
    assert daemon.record(run_id).state == "cancelled"


@pytest.mark.process
@pytest.mark.parametrize("attack", ["outside_fifo", "outside_link", "outside_huge"])
def test_a_worker_that_destroys_the_records_ends_its_own_run_only(
    daemon: DaemonUnderTest, submit_attack: SubmitAttack, attack: str
) -> None:
    """It runs as the same user, so it can find the folder of the records; only its run is lost."""
    run_id = submit_attack(attack)
    daemon.until(run_id, RunState.RUNNING)
    (daemon.run(run_id).path / "is_running").touch()
    _wait_until_ready(daemon, run_id)
    other = daemon.submit(steps=3)
    assert daemon.until(other).state == "succeeded"
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=0.5), timeout=_CALL_TIMEOUT_S)
    assert daemon.until(run_id).state in ("cancelled", "lost")
    daemon.restart()
    assert RunState(daemon.record(run_id).state).is_final


@pytest.mark.parametrize("record", [StartedRecord, ExitRecord])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_reading_a_record_never_blocks(
    tmp_path: Path, record: type[ExitRecord], make: Callable[[Path], None]
) -> None:
    """A pipe and a link are damaged records."""
    make(tmp_path / "record.json")
    with pytest.raises(DamagedRecordError, match="not a regular file"):
        record.read(tmp_path / "record.json")


def test_a_huge_record_is_not_read(tmp_path: Path) -> None:
    """The size of a record is limited."""
    path = tmp_path / "exit.json"
    with path.open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(DamagedRecordError, match="larger than"):
        ExitRecord.read(path)


def test_a_lock_that_is_a_pipe_does_not_block(tmp_path: Path) -> None:
    """It is treated as free; whether the supervisor is alive is then read from its process."""
    run = RunDirectory(tmp_path / "runs" / "run")
    run.path.mkdir(parents=True)
    os.mkfifo(run.supervisor_lock)
    with supervisor_absence(run) as absent:
        assert absent
