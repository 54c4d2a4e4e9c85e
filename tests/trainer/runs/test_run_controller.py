"""Runs in a real daemon: started, paused, stopped, failed and limited."""

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest

from mosaic.contract.process_identity import environment_of, live_processes, read_stat
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.trainer.bundles.install_lock import hold_lock
from mosaic.trainer.processes.run_termination import find_members
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

ENDLESS: dict[str, Any] = {"steps": 10_000_000, "rate": 50}


def _processes_of(run_id: str) -> list[int]:
    return [
        stat.pid
        for stat in live_processes()
        if environment_of(stat.pid).get("MOSAIC_RUN_ID") == run_id
    ]


def _started(daemon: DaemonUnderTest, run_id: str) -> StartedRecord:
    daemon.until(run_id, RunState.RUNNING)
    started = StartedRecord.read(daemon.run(run_id).started)
    assert started is not None
    return started


def _cancel(daemon: DaemonUnderTest, run_id: str, grace_s: float = 10.0) -> pb.RunRecord:
    request = pb.CancelRunRequest(run_id=run_id, reason="Enough.", grace_s=grace_s)
    return daemon.stub.CancelRun(request)


def _submit(daemon: DaemonUnderTest, **fields: Any) -> str:
    config = {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", **fields}
    request = pb.SubmitRunRequest(config_json=json.dumps(config).encode())
    return daemon.stub.SubmitRun(request).run_id


def _history(daemon: DaemonUnderTest, run_id: str) -> list[str]:
    details = daemon.stub.GetRun(pb.RunRef(run_id=run_id))
    return [change.state for change in details.history]


def test_a_run_from_start_to_end(daemon: DaemonUnderTest) -> None:
    """A run that does its work succeeds, and everything about it is on record."""
    run_id = daemon.submit(steps=300, rate=0, episode_length=30)
    record = daemon.until(run_id)
    details = daemon.stub.GetRun(pb.RunRef(run_id=run_id))
    assert (record.state, record.exit_code) == ("succeeded", 0)
    assert (record.digest.steps, record.digest.episodes) == (300, 10)
    assert record.digest.committed_bytes == daemon.run(run_id).spool.stat().st_size
    assert _history(daemon, run_id) == ["queued", "preparing", "running", "succeeded"]
    assert json.loads(details.resolved_json)["args"]["steps"] == 300
    assert details.command[1:3] == ["-m", "echo_worker"]
    assert details.bundle.name == "echo_worker"


def test_the_same_configuration_again_is_another_run(daemon: DaemonUnderTest) -> None:
    """Only the same request is the same run: who submits again after a failure gets a new one."""
    config = json.dumps(
        {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "params": {"exit_code": 3}}
    ).encode()
    first, again, other = (
        daemon.stub.SubmitRun(pb.SubmitRunRequest(config_json=config, request_id=request)).run_id
        for request in ("a", "a", "b")
    )
    assert first == again
    assert other != first
    assert daemon.until(first, RunState.FAILED).exit_code == 3


def test_a_crash_is_reported_with_the_last_lines(daemon: DaemonUnderTest) -> None:
    """A worker that dies leaves the reason and what it said last, in the event and on the run."""
    run_id = daemon.submit(steps=100, crash_at=20)
    record = daemon.until(run_id, RunState.FAILED)
    assert "SIGSEGV" in record.reason
    assert record.digest.steps == 20
    events = daemon.stub.WatchRuns(pb.WatchRunsRequest(run_ids=[run_id]))
    final = [event for event in events if event.HasField("state")][-1]
    details = daemon.stub.GetRun(pb.RunRef(run_id=run_id))
    assert final.state.change.state == "failed"
    assert list(final.state.output_tail) == list(details.output_tail)


def test_cancel_in_the_queue(daemon: DaemonUnderTest) -> None:
    """A run that waits is cancelled without ever having a process."""
    limit = daemon.stub.GetHealth(pb.GetHealthRequest()).cpus
    for _ in range(limit):
        daemon.submit(**ENDLESS)
    waiting = daemon.submit(**ENDLESS)
    eventually(lambda: any("Waiting" in text for text in daemon.record(waiting).warnings))
    assert daemon.stub.GetRun(pb.RunRef(run_id=waiting)).queue_position == 1
    assert _cancel(daemon, waiting).state == "cancelled"
    assert not daemon.run(waiting).started.exists()


def test_cancel_while_preparing(daemon: DaemonUnderTest) -> None:
    """A run whose bundle is being installed is cancelled at once, not after the installation."""
    daemon.until(daemon.submit(steps=1), RunState.SUCCEEDED)
    bundle = next(daemon.home.venvs.glob("echo_worker-*"))
    lock = next(path for path in daemon.home.venvs.rglob("*lock*") if bundle.name in path.name)
    (bundle / "ready.json").unlink()
    with hold_lock(lock, lambda _: None, threading.Event()):
        run_id = daemon.submit(**ENDLESS)
        daemon.until(run_id, RunState.PREPARING)
        _cancel(daemon, run_id)
        assert daemon.until(run_id).state == "cancelled"
    assert not daemon.run(run_id).started.exists()


def test_cancel_while_running(daemon: DaemonUnderTest) -> None:
    """A running worker is asked, obeys, and nothing of it is left."""
    run_id = daemon.submit(**ENDLESS)
    started = _started(daemon, run_id)
    assert _cancel(daemon, run_id).state == "stopping"
    record = daemon.until(run_id)
    assert (record.state, record.reason) == ("cancelled", "Enough.")
    assert not find_members(daemon.run(run_id), started)


def test_cancel_while_paused(daemon: DaemonUnderTest) -> None:
    """A paused worker wakes up to obey."""
    run_id = daemon.submit(**ENDLESS)
    started = _started(daemon, run_id)
    assert daemon.stub.PauseRun(pb.RunRef(run_id=run_id)).state == "paused"
    _cancel(daemon, run_id)
    assert daemon.until(run_id).state == "cancelled"
    assert not find_members(daemon.run(run_id), started)


def test_cancel_again_while_stopping(daemon: DaemonUnderTest) -> None:
    """Who loses patience with a worker that ignores everything asks again, with less grace."""
    run_id = daemon.submit(**ENDLESS, ignore_term=True)
    started = _started(daemon, run_id)
    eventually(lambda: daemon.record(run_id).digest.steps)  # from now on it ignores
    _cancel(daemon, run_id, grace_s=3600)
    assert _cancel(daemon, run_id, grace_s=0.1).state == "stopping"
    assert daemon.until(run_id).state == "cancelled"
    assert not find_members(daemon.run(run_id), started)


def test_cancel_of_one_that_is_over(daemon: DaemonUnderTest) -> None:
    """What is over stays as it ended."""
    run_id = daemon.submit(steps=1)
    daemon.until(run_id, RunState.SUCCEEDED)
    with pytest.raises(grpc.RpcError) as caught:
        _cancel(daemon, run_id)
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert daemon.record(run_id).state == "succeeded"


def test_a_worker_with_children_of_its_own(daemon: DaemonUnderTest) -> None:
    """Ending a run ends all it has started, orphans in sessions of their own included."""
    run_id = daemon.submit(**ENDLESS, fork=4)
    _started(daemon, run_id)
    eventually(lambda: len(_processes_of(run_id)) >= 6)
    _cancel(daemon, run_id, grace_s=0.5)
    daemon.until(run_id, RunState.CANCELLED)
    assert not _processes_of(run_id)


def test_pause_by_command_and_resume(daemon: DaemonUnderTest) -> None:
    """A worker that can pause does so itself, and continues at the same step."""
    run_id = daemon.submit(steps=400, rate=200)
    _started(daemon, run_id)
    paused = daemon.stub.PauseRun(pb.RunRef(run_id=run_id))
    assert (paused.state, paused.reason) == ("paused", "The worker is waiting.")
    assert daemon.stub.ResumeRun(pb.RunRef(run_id=run_id)).state == "running"
    assert daemon.until(run_id).digest.steps == 400


def test_pause_by_force(daemon: DaemonUnderTest) -> None:
    """A worker that does not answer is frozen where it stands, and wakes again."""
    run_id = daemon.submit(**ENDLESS)
    started = _started(daemon, run_id)
    process = read_stat(started.pid)
    assert process is not None
    # Deaf, but alive: it cannot read the command, as one that is deep in a long computation.
    daemon.run(run_id).control.unlink()
    paused = daemon.stub.PauseRun(pb.RunRef(run_id=run_id))
    assert (paused.state, paused.reason) == (
        "paused",
        "Its processes were suspended.",
    )
    eventually(lambda: (stat := read_stat(started.pid)) is not None and stat.state == "T")
    _cancel(daemon, run_id, grace_s=0.5)
    assert daemon.until(run_id).state == "cancelled"


def test_time_limit(daemon: DaemonUnderTest) -> None:
    """A run that takes longer than it may is stopped, and says why."""
    run_id = _submit(daemon, params=ENDLESS, time_limit_s=0.5)
    record = daemon.until(run_id, RunState.CANCELLED)
    assert record.reason == "Its time limit of 0.5 s was reached."


def test_priority(daemon: DaemonUnderTest) -> None:
    """Of those that wait, the most urgent starts first, whenever it came."""
    limit = daemon.stub.GetHealth(pb.GetHealthRequest()).cpus
    going = [daemon.submit(**ENDLESS) for _ in range(limit)]
    for run_id in going:
        daemon.until(run_id, RunState.RUNNING)
    late = _submit(daemon, params={"steps": 1}, priority=-5)
    urgent = _submit(daemon, params={"steps": 1}, priority=5)
    _cancel(daemon, going[0])
    first = daemon.until(urgent)
    second = daemon.until(late)
    assert first.started_at <= second.started_at


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"resources": {"gpus": 512}}, "512 GPUs"),
        ({"resources": {"cpus": 4000}}, "4000 CPUs"),
        ({"params": {"stepz": 1}}, "stepz"),
        ({"algo": "eco"}, "echo"),
        ({"worker": "echo_workr"}, "echo_workr"),
        ({"launcher": "ray"}, "ray"),
    ],
)
def test_a_run_that_cannot_start_is_rejected_at_once(
    daemon: DaemonUnderTest, fields: dict[str, Any], word: str
) -> None:
    """A GPU that is not there, a misspelt parameter: reported before anything is queued."""
    with pytest.raises(grpc.RpcError, match=word):
        _submit(daemon, **{"params": {}, **fields})
    assert not daemon.stub.ListRuns(pb.ListRunsRequest()).runs


def test_a_stalled_run_gets_a_warning(tmp_path: Path) -> None:
    """A worker without a sign of life is shown as such, stays alive, and is never killed."""
    daemon = DaemonUnderTest(tmp_path, ("--stalled-after-s", "0.5"))
    try:
        daemon.start()
        run_id = daemon.submit(steps=100, hang_at=10)
        eventually(lambda: any("No heartbeat" in text for text in daemon.record(run_id).warnings))
        assert daemon.record(run_id).state == "running"
        _cancel(daemon, run_id, grace_s=0.5)
        record = daemon.until(run_id)
        assert (record.state, list(record.warnings)) == ("cancelled", [])
    finally:
        daemon.clean_up()


def test_a_worker_killed_by_a_signal(daemon: DaemonUnderTest) -> None:
    """A worker that is killed has failed, by that signal."""
    run_id = daemon.submit(**ENDLESS)
    os.kill(_started(daemon, run_id).pid, signal.SIGKILL)
    assert daemon.until(run_id, RunState.FAILED).reason == "The worker was ended by SIGKILL."


def test_control_reaches_the_worker(daemon: DaemonUnderTest) -> None:
    """A command is numbered, delivered, and answered by the worker on its own line."""
    run_id = daemon.submit(**ENDLESS)
    _started(daemon, run_id)

    def send(command: bytes) -> pb.ControlRunResponse:
        request = pb.ControlRunRequest(run_id=run_id, command_json=command)
        return daemon.stub.ControlRun(request)

    first, second = send(b'{"cmd":"speed","value":2}').seq, send(b'{"cmd":"checkpoint"}').seq
    assert first < second
    with pytest.raises(grpc.RpcError, match="is not a known command"):
        send(b'{"cmd":"dance"}')
