"""Runs in a real daemon: start, pause, stop, failure and time limit."""

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
    request = pb.CancelRunRequest(run_id=run_id, reason="Cancelled by the test.", grace_s=grace_s)
    return daemon.stub.CancelRun(request)


def _submit(daemon: DaemonUnderTest, **fields: Any) -> str:
    config = {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", **fields}
    request = pb.SubmitRunRequest(config_json=json.dumps(config).encode())
    return daemon.stub.SubmitRun(request).run_id


def _history(daemon: DaemonUnderTest, run_id: str) -> list[str]:
    details = daemon.stub.GetRun(pb.RunRef(run_id=run_id))
    return [change.state for change in details.history]


def test_a_run_from_start_to_end(daemon: DaemonUnderTest) -> None:
    """A run that finishes succeeds, and its details are recorded."""
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


def test_a_configuration_can_be_submitted_again(daemon: DaemonUnderTest) -> None:
    """The same request id returns the same run; another request id starts a new one."""
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
    """The reason and the last output lines are in the event and in the run details."""
    run_id = daemon.submit(steps=100, crash_at=20)
    record = daemon.until(run_id, RunState.FAILED)
    assert "SIGSEGV" in record.reason
    assert record.digest.steps == 20
    events = daemon.stub.WatchRuns(pb.WatchRunsRequest(run_ids=[run_id]))
    final = [event for event in events if event.HasField("state")][-1]
    details = daemon.stub.GetRun(pb.RunRef(run_id=run_id))
    assert final.state.change.state == "failed"
    assert list(final.state.output_tail) == list(details.output_tail)


def test_cancel_a_queued_run(daemon: DaemonUnderTest) -> None:
    """A queued run is cancelled without starting a process."""
    limit = daemon.stub.GetHealth(pb.GetHealthRequest()).cpus
    for _ in range(limit):
        daemon.submit(**ENDLESS)
    waiting = daemon.submit(**ENDLESS)
    eventually(lambda: any("Waiting" in text for text in daemon.record(waiting).warnings))
    assert daemon.stub.GetRun(pb.RunRef(run_id=waiting)).queue_position == 1
    assert _cancel(daemon, waiting).state == "cancelled"
    assert not daemon.run(waiting).started.exists()


def test_cancel_while_preparing(daemon: DaemonUnderTest) -> None:
    """A run whose bundle is being installed is cancelled immediately."""
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
    """A running worker handles `stop`, and no process of it is left."""
    run_id = daemon.submit(**ENDLESS)
    started = _started(daemon, run_id)
    assert _cancel(daemon, run_id).state == "stopping"
    record = daemon.until(run_id)
    assert (record.state, record.reason) == ("cancelled", "Cancelled by the test.")
    assert not find_members(daemon.run(run_id), started)


def test_cancel_while_paused(daemon: DaemonUnderTest) -> None:
    """A paused worker is resumed to handle `stop`."""
    run_id = daemon.submit(**ENDLESS)
    started = _started(daemon, run_id)
    assert daemon.stub.PauseRun(pb.RunRef(run_id=run_id)).state == "paused"
    _cancel(daemon, run_id)
    assert daemon.until(run_id).state == "cancelled"
    assert not find_members(daemon.run(run_id), started)


def test_cancel_again_while_stopping(daemon: DaemonUnderTest) -> None:
    """A second request with a shorter grace period applies to a worker that ignores SIGTERM."""
    run_id = daemon.submit(**ENDLESS, ignore_term=True)
    started = _started(daemon, run_id)
    eventually(lambda: daemon.record(run_id).digest.steps)  # SIGTERM is ignored from here on
    _cancel(daemon, run_id, grace_s=3600)
    assert _cancel(daemon, run_id, grace_s=0.1).state == "stopping"
    assert daemon.until(run_id).state == "cancelled"
    assert not find_members(daemon.run(run_id), started)


def test_cancel_a_finished_run(daemon: DaemonUnderTest) -> None:
    """The request is rejected, and the state does not change."""
    run_id = daemon.submit(steps=1)
    daemon.until(run_id, RunState.SUCCEEDED)
    with pytest.raises(grpc.RpcError) as caught:
        _cancel(daemon, run_id)
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert daemon.record(run_id).state == "succeeded"


def test_child_processes_of_a_worker_are_killed(daemon: DaemonUnderTest) -> None:
    """Cancelling a run kills all of its processes, including orphans in other sessions."""
    run_id = daemon.submit(**ENDLESS, fork=4)
    _started(daemon, run_id)
    eventually(lambda: len(_processes_of(run_id)) >= 6)
    _cancel(daemon, run_id, grace_s=0.5)
    daemon.until(run_id, RunState.CANCELLED)
    assert not _processes_of(run_id)


def test_pause_by_command_and_resume(daemon: DaemonUnderTest) -> None:
    """A worker that supports pausing pauses itself, and continues at the same step."""
    run_id = daemon.submit(steps=400, rate=200)
    _started(daemon, run_id)
    paused = daemon.stub.PauseRun(pb.RunRef(run_id=run_id))
    assert (paused.state, paused.reason) == ("paused", "The worker is waiting.")
    assert daemon.stub.ResumeRun(pb.RunRef(run_id=run_id)).state == "running"
    assert daemon.until(run_id).digest.steps == 400


def test_pause_by_signal(daemon: DaemonUnderTest) -> None:
    """The processes of a worker that does not respond are suspended."""
    run_id = daemon.submit(**ENDLESS)
    started = _started(daemon, run_id)
    process = read_stat(started.pid)
    assert process is not None
    # The worker cannot read the command, as during a long computation.
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
    """A run that exceeds its time limit is cancelled with a reason."""
    run_id = _submit(daemon, params=ENDLESS, time_limit_s=0.5)
    record = daemon.until(run_id, RunState.CANCELLED)
    assert record.reason == "Its time limit of 0.5 s was reached."


def test_queued_runs_start_by_priority(daemon: DaemonUnderTest) -> None:
    """The run with the highest priority starts first, regardless of the order of submission."""
    limit = daemon.stub.GetHealth(pb.GetHealthRequest()).cpus
    running = [daemon.submit(**ENDLESS) for _ in range(limit)]
    for run_id in running:
        daemon.until(run_id, RunState.RUNNING)
    low = _submit(daemon, params={"steps": 1}, priority=-5)
    high = _submit(daemon, params={"steps": 1}, priority=5)
    _cancel(daemon, running[0])
    first = daemon.until(high)
    second = daemon.until(low)
    assert first.started_at <= second.started_at


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"resources": {"gpus": 512}}, "512 GPUs"),
        ({"resources": {"cpus": 4000}}, "4000 CPUs"),
        ({"params": {"stepz": 1}}, "stepz"),
        ({"algo": "eco"}, "echo"),
        ({"worker": "echo_workr"}, "echo_workr"),
        ({"launcher": "ray"}, "ray"),
    ],
)
def test_a_run_that_cannot_start_is_rejected(
    daemon: DaemonUnderTest, fields: dict[str, Any], text: str
) -> None:
    """A missing GPU or a misspelt parameter is reported before the run is queued."""
    with pytest.raises(grpc.RpcError, match=text):
        _submit(daemon, **{"params": {}, **fields})
    assert not daemon.stub.ListRuns(pb.ListRunsRequest()).runs


def test_a_stalled_run_gets_a_warning(tmp_path: Path) -> None:
    """A worker without heartbeats has a warning and is not killed."""
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
    """The run has failed, and the reason names the signal."""
    run_id = daemon.submit(**ENDLESS)
    os.kill(_started(daemon, run_id).pid, signal.SIGKILL)
    assert daemon.until(run_id, RunState.FAILED).reason == "The worker was ended by SIGKILL."


def test_control_reaches_the_worker(daemon: DaemonUnderTest) -> None:
    """Commands are numbered in order; an unknown command is rejected."""
    run_id = daemon.submit(**ENDLESS)
    _started(daemon, run_id)

    def send(command: bytes) -> pb.ControlRunResponse:
        request = pb.ControlRunRequest(run_id=run_id, command_json=command)
        return daemon.stub.ControlRun(request)

    first, second = send(b'{"cmd":"speed","value":2}').seq, send(b'{"cmd":"checkpoint"}').seq
    assert first < second
    with pytest.raises(grpc.RpcError, match="is not a known command"):
        send(b'{"cmd":"unknown"}')
