"""Runs with a lease that clients renew."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.trainer.runs.run_lease import LeaseState, LeaseTimer
from tests.support.daemon import DaemonUnderTest, eventually

LEASE_S = 30.0


def _check_until(lease: LeaseTimer, first_s: float, last_s: float) -> LeaseState:
    """Check the lease at its interval and return its state at `last_s`."""
    now = first_s
    while now < last_s:
        lease.check(now)
        now += lease.check_interval_s
    return lease.check(last_s)


def test_a_lease_lapses_and_then_expires() -> None:
    """Without a client it lapses after one lease period and is over after two."""
    lease = LeaseTimer(LEASE_S, now=100.0)
    assert _check_until(lease, 100.0, 129.9) is LeaseState.HELD
    assert _check_until(lease, 129.9, 130.0) is LeaseState.LAPSED
    assert _check_until(lease, 130.0, 159.9) is LeaseState.LAPSED
    assert _check_until(lease, 159.9, 160.0) is LeaseState.OVER


def test_renewing_keeps_the_lease() -> None:
    """Each renewal starts a full lease period, also after a lapse."""
    lease = LeaseTimer(LEASE_S, now=0.0)
    assert _check_until(lease, 0.0, 29.0) is LeaseState.HELD
    lease.renew(29.0)
    assert _check_until(lease, 29.0, 58.9) is LeaseState.HELD
    assert _check_until(lease, 58.9, 60.0) is LeaseState.LAPSED
    lease.renew(60.0)
    assert _check_until(lease, 60.0, 89.0) is LeaseState.HELD


def test_a_suspended_machine() -> None:
    """After a suspend the client has a full lease period to renew."""
    lease = LeaseTimer(LEASE_S, now=0.0)
    assert _check_until(lease, 0.0, 20.0) is LeaseState.HELD
    resumed_at = 20.0 + 8 * 3600
    assert lease.check(resumed_at) is LeaseState.HELD
    assert _check_until(lease, resumed_at, resumed_at + 29.0) is LeaseState.HELD
    assert _check_until(lease, resumed_at + 29.0, resumed_at + 31.0) is LeaseState.LAPSED


def test_a_machine_suspended_after_a_lapse() -> None:
    """The run remains paused, and the client has a full lease period to renew."""
    lease = LeaseTimer(LEASE_S, now=0.0)
    assert _check_until(lease, 0.0, 50.0) is LeaseState.LAPSED
    resumed_at = 50.0 + 8 * 3600
    assert lease.check(resumed_at) is LeaseState.LAPSED
    assert _check_until(lease, resumed_at, resumed_at + 29.0) is LeaseState.LAPSED
    assert _check_until(lease, resumed_at + 29.0, resumed_at + 31.0) is LeaseState.OVER


def test_a_daemon_that_recovers_a_lapsed_run() -> None:
    """The run has another lease period before it is stopped."""
    lease = LeaseTimer(LEASE_S, now=0.0, has_lapsed=True)
    assert _check_until(lease, 0.0, 29.0) is LeaseState.LAPSED
    assert _check_until(lease, 29.0, 30.0) is LeaseState.OVER


def _submit(daemon: DaemonUnderTest, lease_s: float | None) -> str:
    config: dict[str, Any] = {
        "worker": "echo_worker",
        "algo": "echo",
        "env_id": "Echo-v0",
        "params": {"steps": 10_000_000, "rate": 50},
        "lease_s": lease_s,
    }
    request = pb.SubmitRunRequest(config_json=json.dumps(config).encode())
    return daemon.stub.SubmitRun(request).run_id


def _renew(daemon: DaemonUnderTest, run_id: str) -> pb.RunRecord:
    return daemon.stub.HoldRun(pb.RunRef(run_id=run_id))


def _reasons(daemon: DaemonUnderTest, run_id: str) -> list[tuple[str, str]]:
    history = daemon.stub.GetRun(pb.RunRef(run_id=run_id)).history
    return [(change.state, change.reason) for change in history]


@contextmanager
def _renewing(daemon: DaemonUnderTest, run_id: str) -> Iterator[None]:
    """Renew the lease repeatedly during the block."""
    done = threading.Event()

    def renew() -> None:
        while not done.wait(0.05):
            _renew(daemon, run_id)

    renewer = threading.Thread(target=renew)
    renewer.start()
    try:
        yield
    finally:
        done.set()
        renewer.join()


@pytest.mark.process
def test_a_run_without_a_client_pauses_and_stops(daemon: DaemonUnderTest) -> None:
    """The run is paused, then stopped, each with a reason."""
    run_id = _submit(daemon, 0.5)
    record = daemon.until(run_id)
    assert record.state == "cancelled"
    assert record.reason == "No client has held it for 1 s."
    states = [state for state, _ in _reasons(daemon, run_id)]
    assert states == ["queued", "preparing", "running", "paused", "stopping", "cancelled"]
    assert _reasons(daemon, run_id)[3][1].startswith("No client has held it for 0.5 s.")


@pytest.mark.process
def test_a_renewed_lease_resumes_the_run(daemon: DaemonUnderTest) -> None:
    """A run paused by a lapsed lease resumes with a reason."""
    run_id = _submit(daemon, 2.0)
    daemon.until(run_id, RunState.PAUSED)
    assert _renew(daemon, run_id).state == "running"
    assert _reasons(daemon, run_id)[-1] == ("running", "A client renewed its lease.")
    with _renewing(daemon, run_id):
        steps = daemon.record(run_id).digest.steps
        eventually(lambda: daemon.record(run_id).digest.steps > steps + 20)
        assert daemon.record(run_id).state == "running"
    daemon.until(run_id, RunState.PAUSED)


@pytest.mark.process
def test_a_command_renews_the_lease(daemon: DaemonUnderTest) -> None:
    """A lapsed run resumes before it gets the command."""
    run_id = _submit(daemon, 2.0)
    daemon.until(run_id, RunState.PAUSED)
    command = json.dumps({"cmd": "checkpoint"}).encode()
    daemon.stub.ControlRun(pb.ControlRunRequest(run_id=run_id, command_json=command))
    assert daemon.record(run_id).state == "running"
    eventually(lambda: list((daemon.run(run_id).path / "checkpoints").glob("*.json")))


@pytest.mark.process
def test_a_run_paused_by_the_user(daemon: DaemonUnderTest) -> None:
    """Renewing the lease does not resume the run; without a client it is stopped."""
    run_id = _submit(daemon, 0.5)
    with _renewing(daemon, run_id):
        daemon.until(run_id, RunState.RUNNING)
        daemon.stub.PauseRun(pb.RunRef(run_id=run_id))
        for _ in range(20):
            assert _renew(daemon, run_id).state == "paused"
    assert daemon.until(run_id).reason == "No client has held it for 1 s."
    assert "A client renewed its lease." not in dict(_reasons(daemon, run_id)).values()


@pytest.mark.process
def test_a_resumed_run_without_a_client_pauses_again(daemon: DaemonUnderTest) -> None:
    """A run that the user resumed after a lapse is paused again."""
    run_id = _submit(daemon, 1.0)
    daemon.until(run_id, RunState.PAUSED)
    daemon.stub.ResumeRun(pb.RunRef(run_id=run_id))
    daemon.until(run_id, RunState.PAUSED)
    states = [state for state, _ in _reasons(daemon, run_id)]
    assert states[3:] == ["paused", "running", "paused"]


@pytest.mark.long
@pytest.mark.process
def test_a_client_that_is_killed(daemon: DaemonUnderTest) -> None:
    """The run is cancelled two lease periods after its client was killed."""
    run_id = _submit(daemon, 3.0)
    code = (
        "import sys, time; from mosaic.client import TrainerClient\n"
        "client = TrainerClient.connect(sys.argv[1])\n"
        "while True: print(client.renew_lease(sys.argv[2]).state, flush=True); time.sleep(0.1)"
    )
    command = [sys.executable, "-c", code, str(daemon.home.path), run_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as renewer:
        assert renewer.stdout is not None
        with _renewing(daemon, run_id):  # the client may take longer than a lease period to start
            daemon.until(run_id, RunState.RUNNING)
            while renewer.stdout.readline().strip() != "running":
                assert renewer.poll() is None
        for _ in range(20):
            assert renewer.stdout.readline().strip() == "running"
        os.kill(renewer.pid, signal.SIGKILL)
    assert daemon.until(run_id).state == "cancelled"


@pytest.mark.process
def test_a_restarted_daemon_starts_a_new_lease(daemon: DaemonUnderTest) -> None:
    """Time without a daemon does not count, neither for running nor for lapsed runs."""
    running, lapsed = _submit(daemon, 600.0), _submit(daemon, 2.0)
    daemon.until(lapsed, RunState.PAUSED)
    daemon.kill()
    daemon.restart()
    assert _renew(daemon, lapsed).state == "running"
    assert _reasons(daemon, lapsed)[-1][1] == "A client renewed its lease."
    assert daemon.record(running).state == "running"


@pytest.mark.process
def test_runs_without_a_lease(daemon: DaemonUnderTest) -> None:
    """Renewing is accepted but not needed, also for a finished run."""
    run_id = _submit(daemon, None)
    daemon.until(run_id, RunState.RUNNING)
    assert _renew(daemon, run_id).state == "running"
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
    daemon.until(run_id)
    assert _renew(daemon, run_id).state == "cancelled"
