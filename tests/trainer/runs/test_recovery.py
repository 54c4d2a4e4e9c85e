"""Recovery of runs by the next daemon after a crash or a stop."""

import json
import os
import shutil
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.process_identity import ProcessIdentity
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunStats
from mosaic.trainer.processes.launcher import LocalLauncher
from mosaic.trainer.processes.run_termination import find_members
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.recovery import Recovery
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

ENDLESS: dict[str, Any] = {"steps": 10_000_000, "rate": 50}


def _started(daemon: DaemonUnderTest, run_id: str) -> StartedRecord:
    daemon.until(run_id, RunState.RUNNING)
    started = StartedRecord.read(daemon.run(run_id).started)
    assert started is not None
    return started


def test_a_graceful_stop_leaves_runs_running(daemon: DaemonUnderTest) -> None:
    """Training continues without a daemon, and the next daemon reattaches to it."""
    run_id = daemon.submit(**ENDLESS)
    worker = _started(daemon, run_id).pid
    assert daemon.stop() == 0
    os.kill(worker, 0)
    daemon.restart()
    assert daemon.record(run_id).state == "running"
    assert StartedRecord.read(daemon.run(run_id).started).pid == worker  # type: ignore[union-attr] # it exists
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
    daemon.until(run_id, RunState.CANCELLED)


def test_a_run_that_ended_while_the_daemon_was_down(daemon: DaemonUnderTest) -> None:
    """Runs that ended without a daemon have their exit codes and all of their telemetry."""
    succeeded = daemon.submit(steps=150, rate=100)
    failed = daemon.submit(steps=150, rate=100, exit_code=7)
    records = [_started(daemon, run_id) for run_id in (succeeded, failed)]
    daemon.kill()
    for started in records:
        stamp = started.supervisor
        assert ProcessIdentity(stamp.pid, stamp.start_ticks, started.boot_id).wait(60)
    daemon.restart()
    assert daemon.until(succeeded).state == "succeeded"
    assert (daemon.until(failed).state, daemon.record(failed).exit_code) == ("failed", 7)
    assert {daemon.record(run_id).digest.steps for run_id in (succeeded, failed)} == {150}


def test_a_run_without_an_exit_record_is_lost(daemon: DaemonUnderTest) -> None:
    """If the supervisor was killed, too, the worker is killed and the run is lost."""
    run_id = daemon.submit(**ENDLESS)
    started = _started(daemon, run_id)
    daemon.kill()
    os.kill(started.supervisor.pid, signal.SIGKILL)
    daemon.restart()
    assert daemon.until(run_id).state == "lost"
    assert not find_members(daemon.run(run_id), started)


def test_after_a_reboot_nothing_is_reattached(daemon: DaemonUnderTest) -> None:
    """Pids of an earlier boot belong to other processes, which are not signalled."""
    run_id = daemon.submit(**ENDLESS)
    started = _started(daemon, run_id)
    daemon.kill()
    run = daemon.run(run_id)
    os.kill(started.supervisor.pid, signal.SIGKILL)
    os.killpg(started.pid, signal.SIGKILL)
    unrelated = ProcessIdentity.of(os.getpid())
    assert unrelated is not None
    record = json.loads(run.started.read_bytes())
    record.update(pid=unrelated.pid, start_ticks=unrelated.start_ticks, boot_id="an-earlier-boot")
    run.started.write_text(json.dumps(record))
    daemon.restart()
    assert daemon.until(run_id).state == "lost"


def test_an_interrupted_stop_is_finished(daemon: DaemonUnderTest) -> None:
    """A run that was stopping when the daemon was killed is stopped by the next one."""
    run_id = daemon.submit(**ENDLESS, ignore_term=True)
    started = _started(daemon, run_id)
    eventually(lambda: daemon.record(run_id).digest.steps)  # SIGTERM is ignored from here on
    daemon.stub.CancelRun(
        pb.CancelRunRequest(run_id=run_id, reason="Cancelled by the test.", grace_s=3600)
    )
    daemon.kill()
    assert daemon.start("--stop-grace-s", "0.2").startswith("ready ")
    record = daemon.until(run_id)
    assert (record.state, record.reason) == ("cancelled", "Cancelled by the test.")
    assert not find_members(daemon.run(run_id), started)


def test_a_paused_run_stays_paused(daemon: DaemonUnderTest) -> None:
    """A paused run is still paused after a restart, and can be resumed."""
    run_id = daemon.submit(steps=300, rate=200)
    _started(daemon, run_id)
    daemon.stub.PauseRun(pb.RunRef(run_id=run_id))
    daemon.kill()
    daemon.restart()
    assert daemon.record(run_id).state == "paused"
    daemon.stub.ResumeRun(pb.RunRef(run_id=run_id))
    assert daemon.until(run_id).digest.steps == 300


def test_the_queue_is_restored(daemon: DaemonUnderTest) -> None:
    """Queued runs remain queued, also one without a directory."""
    limit = daemon.stub.GetHealth(pb.GetHealthRequest()).cpus
    running = [daemon.submit(**ENDLESS) for _ in range(limit)]
    for run_id in running:
        daemon.until(run_id, RunState.RUNNING)
    waiting = daemon.submit(steps=5)
    daemon.kill()
    shutil.rmtree(daemon.run(waiting).path)
    daemon.restart()
    assert daemon.record(waiting).state == "queued"
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=running[0]))
    assert daemon.until(waiting).digest.steps == 5


def test_the_registry_is_rebuilt(daemon: DaemonUnderTest) -> None:
    """Without trainer.db, runs are restored from their directories, including active runs."""
    finished = daemon.submit(steps=40)
    daemon.until(finished, RunState.SUCCEEDED)
    active = daemon.submit(**ENDLESS)
    _started(daemon, active)
    daemon.kill()
    for path in daemon.home.trainer.glob("trainer.db*"):
        path.unlink()
    daemon.restart()
    assert daemon.until(finished).state == "succeeded"
    assert daemon.record(finished).digest.steps == 40
    assert daemon.record(active).state == "running"


def test_incomplete_directories(daemon: DaemonUnderTest) -> None:
    """An invalid directory is set aside with the reason; an empty one is removed."""
    daemon.kill()
    empty, garbage = (daemon.home.runs / new_ulid() for _ in range(2))
    empty.mkdir()
    garbage.mkdir()
    (garbage / "config.json").write_text('{"worker":')
    (garbage / "telemetry.jsonl").write_text("content\n")
    incomplete = daemon.home.runs / f".importing-{new_ulid()}"
    incomplete.mkdir()
    daemon.restart()
    assert not empty.exists()
    assert not incomplete.exists()
    set_aside = daemon.home.quarantine / garbage.name
    assert (set_aside / "telemetry.jsonl").read_text() == "content\n"
    assert "config.json" in set_aside.with_name(f"{garbage.name}.reason.txt").read_text()
    problems = daemon.stub.GetHealth(pb.GetHealthRequest()).problems
    assert any("set aside" in problem for problem in problems)


def test_a_run_without_a_spool_is_not_ingested(daemon: DaemonUnderTest) -> None:
    """A digest with uncommitted bytes does not matter if the spool is missing."""
    run_id = daemon.submit(steps=5)
    daemon.until(run_id, RunState.SUCCEEDED)
    daemon.stop()
    shutil.rmtree(daemon.run(run_id).path)
    with RunRegistry(daemon.home.registry) as registry:
        registry.set_digests({run_id: RunStats(spool_bytes=10, committed_bytes=1)})
        recovered = Recovery(daemon.home, registry, LocalLauncher()).recover()
    assert recovered.not_stored == []


CLOCK = """
import time
_real = time.time
def _shifted():
    with open({path!r}) as file:
        return _real() + float(file.read() or 0)
time.time = _shifted
"""


def _has_grown(daemon: DaemonUnderTest, run_id: str, seen: int) -> bool:
    return daemon.record(run_id).digest.steps > seen


def test_clock_changes(tmp_path: Path) -> None:
    """Setting the clock forward and back does not stop or stall a run."""
    offset = tmp_path / "offset"
    offset.write_text("0")
    (tmp_path / "shift").mkdir()
    (tmp_path / "shift" / "sitecustomize.py").write_text(CLOCK.format(path=str(offset)))
    daemon = DaemonUnderTest(tmp_path)
    daemon.environment["PYTHONPATH"] = str(tmp_path / "shift")
    try:
        daemon.start()
        config = {
            "worker": "echo_worker",
            "algo": "echo",
            "env_id": "Echo-v0",
            "time_limit_s": 3600,
            "params": {"steps": 400, "rate": 100},
        }
        request = pb.SubmitRunRequest(config_json=json.dumps(config).encode())
        run_id = daemon.stub.SubmitRun(request).run_id
        daemon.until(run_id, RunState.RUNNING)
        for jump in ("86400", "-172800"):
            seen = daemon.record(run_id).digest.steps
            offset.write_text(jump)
            eventually(partial(_has_grown, daemon, run_id, seen))
            assert not daemon.record(run_id).warnings
        record = daemon.until(run_id)
        assert (record.state, record.digest.steps) == ("succeeded", 400)
        later = daemon.submit(steps=1)
        listed = daemon.stub.ListRuns(pb.ListRunsRequest()).runs
        assert [run.run_id for run in listed] == [later, run_id]
    finally:
        daemon.clean_up()
