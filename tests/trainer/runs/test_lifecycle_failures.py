"""Failures at critical points in the lifecycle of a run."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.process_identity import read_stat
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_config import ResourcesConfig
from mosaic.contract.run_states import RunState
from mosaic.trainer.processes.run_termination import find_unrecorded_members
from mosaic.trainer.runs.admission import Capacity, Waiting, admit
from tests.support.daemon import DaemonUnderTest, eventually

ENDLESS: dict[str, Any] = {"steps": 10_000_000, "rate": 50}


def _started(daemon: DaemonUnderTest, run_id: str) -> StartedRecord:
    daemon.until(run_id, RunState.RUNNING)
    started = StartedRecord.read(daemon.run(run_id).started)
    assert started is not None
    return started


def _damage(store: Path) -> None:
    """Overwrite everything after the first page, so that the file opens but cannot be read."""
    with store.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))


@pytest.mark.long
@pytest.mark.process
def test_a_damaged_store_affects_only_its_own_run(daemon: DaemonUnderTest) -> None:
    """The stats of other runs are still updated, and the affected run can be cancelled."""
    damaged, other = daemon.submit(**ENDLESS), daemon.submit(**ENDLESS)
    for run_id in (damaged, other):
        eventually(lambda run_id=run_id: daemon.record(run_id).digest.steps > 20)  # type: ignore[misc] # bound now
    daemon.stop()
    daemon.home.settings.write_text("store_timeout_s = 1.0\n")  # its store never becomes usable
    for name in ("telemetry.db-wal", "telemetry.db-shm"):
        (daemon.run(damaged).path / name).unlink(missing_ok=True)
    _damage(daemon.run(damaged).store)
    daemon.restart()
    steps = daemon.record(other).digest.steps
    eventually(lambda: daemon.record(other).digest.steps > steps)
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=damaged, grace_s=0.5))
    assert daemon.until(damaged).state == "cancelled"


@pytest.mark.process
def test_an_environment_above_the_system_limit(daemon: DaemonUnderTest) -> None:
    """A worker that the system cannot start has failed with a reason, without retries."""
    daemon.kill()
    daemon.environment["HUGE"] = "x" * 120_000
    daemon.environment.update({f"HUGE_{number}": "x" * 120_000 for number in range(14)})
    daemon.restart()
    record = daemon.until(daemon.submit(steps=1))
    if record.state == "failed":  # with a larger limit the run succeeds
        assert "could not be started" in record.reason or "program" in record.reason


@pytest.mark.process
def test_many_cancel_requests_of_one_run(daemon: DaemonUnderTest) -> None:
    """Many requests do not delay other calls, and the last grace period applies."""
    run_id = daemon.submit(**ENDLESS, ignore_term=True)
    eventually(lambda: daemon.record(run_id).digest.steps)  # SIGTERM is ignored from here on
    for _ in range(100):
        daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=3600), timeout=30)
    assert daemon.stub.GetHealth(pb.GetHealthRequest(), timeout=30).pid == daemon.pid
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=0.1))
    assert daemon.until(run_id).state == "cancelled"


@pytest.mark.process
def test_a_daemon_stops_while_a_run_is_stopping(daemon: DaemonUnderTest) -> None:
    """A long grace period does not block the shutdown; the next daemon finishes the stop."""
    run_id = daemon.submit(**ENDLESS, ignore_term=True)
    eventually(lambda: daemon.record(run_id).digest.steps)  # SIGTERM is ignored from here on
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=3600))
    assert daemon.stop() == 0
    assert daemon.start("--stop-grace-s", "0.2").startswith("ready ")
    assert daemon.until(run_id).state == "cancelled"


@pytest.mark.process
def test_resources_of_reattached_runs_are_not_free(daemon: DaemonUnderTest) -> None:
    """After a restart no run starts on CPUs that an active run uses."""
    limit = daemon.stub.GetHealth(pb.GetHealthRequest()).cpus
    running = [daemon.submit(**ENDLESS) for _ in range(limit)]
    for run_id in running:
        daemon.until(run_id, RunState.RUNNING)
    waiting = daemon.submit(steps=1)
    for _ in range(3):
        daemon.kill()
        daemon.restart()
        eventually(lambda: daemon.record(waiting).warnings)
        assert daemon.record(waiting).state == "queued"


def test_a_run_above_the_capacity_delays_no_other() -> None:
    """A run queued on a larger machine waits with a reason while others start."""
    capacity = Capacity(runs=4, cpus=2, memory_mb=100, gpus=())
    waiting = [Waiting("huge", ResourcesConfig(cpus=8)), Waiting("small", ResourcesConfig())]
    admission = admit(waiting, {}, capacity)
    assert list(admission.granted) == ["small"]
    assert "it requests 8 CPUs" in admission.waits["huge"]


@pytest.mark.process
def test_a_file_instead_of_a_run_directory(daemon: DaemonUnderTest) -> None:
    """The file is moved to the quarantine, and the daemon starts."""
    daemon.kill()
    stray = daemon.home.runs / new_ulid()
    stray.write_text("not a run")
    daemon.restart()
    assert (daemon.home.quarantine / stray.name).read_text() == "not a run"


@pytest.mark.process
@pytest.mark.parametrize("content", [None, "{"])
def test_an_unrecorded_worker_is_killed(daemon: DaemonUnderTest, content: str | None) -> None:
    """Without a process record, the processes are killed before the run is lost."""
    run_id = daemon.submit(**ENDLESS)
    _started(daemon, run_id)
    daemon.kill()
    run = daemon.run(run_id)
    run.started.unlink()
    if content is not None:
        run.started.write_text(content)
    daemon.restart()
    assert daemon.until(run_id).state == "lost"
    assert not find_unrecorded_members(run)


@pytest.mark.process
def test_a_suspended_run_that_is_not_recorded_as_paused(daemon: DaemonUnderTest) -> None:
    """If the daemon dies while pausing a run, the next one records the run as paused."""
    run_id = daemon.submit(**ENDLESS)
    worker = _started(daemon, run_id).pid
    daemon.kill()
    os.killpg(worker, signal.SIGSTOP)
    daemon.restart()
    daemon.until(run_id, RunState.PAUSED)
    daemon.stub.ResumeRun(pb.RunRef(run_id=run_id))
    eventually(lambda: (stat := read_stat(worker)) is not None and stat.state != "T")


@pytest.mark.process
def test_a_cancelled_run_has_no_waiting_reason(daemon: DaemonUnderTest) -> None:
    """The warning with the waiting reason is removed."""
    limit = daemon.stub.GetHealth(pb.GetHealthRequest()).cpus
    for _ in range(limit):
        daemon.submit(**ENDLESS)
    waiting = daemon.submit(steps=1)
    eventually(lambda: daemon.record(waiting).warnings)
    assert not daemon.stub.CancelRun(pb.CancelRunRequest(run_id=waiting)).warnings


@pytest.mark.process
def test_launch_details_survive_a_lost_registry(daemon: DaemonUnderTest) -> None:
    """Command, bundle and times are restored from the run directory."""
    run_id = daemon.submit(steps=5)
    daemon.until(run_id, RunState.SUCCEEDED)
    before = daemon.stub.GetRun(pb.RunRef(run_id=run_id))
    daemon.kill()
    for path in daemon.home.trainer.glob("trainer.db*"):
        path.unlink()
    daemon.restart()
    daemon.until(run_id, RunState.SUCCEEDED)
    after = daemon.stub.GetRun(pb.RunRef(run_id=run_id))
    assert (after.command, after.bundle) == (before.command, before.bundle)
    assert after.run.started_at <= after.run.ended_at


LEAKY = """
import json, os, sys
if "--describe" in sys.argv:
    print(json.dumps({"worker": "leaky", "modes": ["train"], "algorithms": [{"id": "leak"}]}))
    sys.exit()
key = os.environ["WANDB_API_KEY"]
config = {"type": "config", "run_id": "r", "algo": "leak", "env_id": "E", "args": {"k": key}}
print(json.dumps(config))
print("the key is", key, file=sys.stderr)
print(json.dumps({"type": "bye", "outcome": "failed", "error": f"bad key {key}", "remedy": key}))
sys.exit(1)
"""


@pytest.mark.process
def test_a_worker_that_prints_its_key(tmp_path: Path) -> None:
    """The key is redacted in the list of runs, the details and the log."""
    key = "key-0123456789abcdef"
    worker = tmp_path / "workers" / "leaky"
    (worker / "leaky").mkdir(parents=True)
    (worker / "worker.toml").write_text('id = "leaky"\nlabel = "T"\nmodule = "leaky"\n')
    (worker / "leaky" / "__main__.py").write_text(LEAKY)
    daemon = DaemonUnderTest(tmp_path / "daemon")
    daemon.home.trainer.mkdir(parents=True)
    daemon.home.settings.write_text(f"worker_folders = [{json.dumps(str(worker.parent))}]\n")
    (daemon.home.path / ".env").write_text(f"WANDB_API_KEY={key}\n")
    config = {
        "worker": "leaky",
        "algo": "leak",
        "env_id": "E-v0",
        "artifacts": {"wandb": {"enabled": True}},
    }
    try:
        daemon.start()
        request = pb.SubmitRunRequest(config_json=json.dumps(config).encode())
        run_id = daemon.stub.SubmitRun(request).run_id
        record = daemon.until(run_id, RunState.FAILED)
        details = daemon.stub.GetRun(pb.RunRef(run_id=run_id))
        assert record.reason == "The worker failed: bad key [secret WANDB_API_KEY]"
        assert "[secret WANDB_API_KEY]" in details.resolved_json.decode()
        assert any("[secret WANDB_API_KEY]" in line for line in details.output_tail)
        assert key not in str(details)
        assert key not in (daemon.home.logs / "daemon.log").read_text()
    finally:
        daemon.clean_up()
