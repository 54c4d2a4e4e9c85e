"""What must not happen when something goes wrong at the worst moment."""

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
    """Overwrite everything behind the first page, so that it opens and cannot be read."""
    with store.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))


@pytest.mark.long
@pytest.mark.process
def test_a_damaged_store_hurts_only_its_own_run(daemon: DaemonUnderTest) -> None:
    """The numbers of all others continue, and the run itself still comes to its end."""
    hurt, other = daemon.submit(**ENDLESS), daemon.submit(**ENDLESS)
    for run_id in (hurt, other):
        eventually(lambda run_id=run_id: daemon.record(run_id).digest.steps > 20)  # type: ignore[misc] # bound now
    daemon.stop()
    daemon.home.settings.write_text("store_timeout_s = 1.0\n")  # its store never becomes usable
    for name in ("telemetry.db-wal", "telemetry.db-shm"):
        (daemon.run(hurt).path / name).unlink(missing_ok=True)
    _damage(daemon.run(hurt).store)
    daemon.restart()
    seen = daemon.record(other).digest.steps
    eventually(lambda: daemon.record(other).digest.steps > seen)
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=hurt, grace_s=0.5))
    assert daemon.until(hurt).state == "cancelled"


@pytest.mark.process
def test_an_environment_too_large_to_start_with(daemon: DaemonUnderTest) -> None:
    """What the system refuses to start has failed, with the reason, and is not tried for ever."""
    daemon.kill()
    daemon.environment["HUGE"] = "x" * 120_000
    daemon.environment.update({f"HUGE_{number}": "x" * 120_000 for number in range(14)})
    daemon.restart()
    record = daemon.until(daemon.submit(steps=1))
    if record.state == "failed":  # where the limit is larger it simply runs
        assert "could not be started" in record.reason or "program" in record.reason


@pytest.mark.process
def test_many_cancels_of_one_run(daemon: DaemonUnderTest) -> None:
    """Who asks a hundred times delays no other call, and the last and shortest grace counts."""
    run_id = daemon.submit(**ENDLESS, ignore_term=True)
    eventually(lambda: daemon.record(run_id).digest.steps)  # from now on it ignores
    for _ in range(100):
        daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=3600), timeout=30)
    assert daemon.stub.GetHealth(pb.GetHealthRequest(), timeout=30).pid == daemon.pid
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=0.1))
    assert daemon.until(run_id).state == "cancelled"


@pytest.mark.process
def test_a_daemon_stops_while_a_run_takes_its_time(daemon: DaemonUnderTest) -> None:
    """A stop with an hour of grace does not keep the daemon; the next one finishes it."""
    run_id = daemon.submit(**ENDLESS, ignore_term=True)
    eventually(lambda: daemon.record(run_id).digest.steps)  # from now on it ignores
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=3600))
    assert daemon.stop() == 0
    assert daemon.start("--stop-grace-s", "0.2").startswith("ready ")
    assert daemon.until(run_id).state == "cancelled"


@pytest.mark.process
def test_resources_of_reattached_runs_are_not_free(daemon: DaemonUnderTest) -> None:
    """After a restart no run starts on processors that a living run has."""
    limit = daemon.stub.GetHealth(pb.GetHealthRequest()).cpus
    going = [daemon.submit(**ENDLESS) for _ in range(limit)]
    for run_id in going:
        daemon.until(run_id, RunState.RUNNING)
    waiting = daemon.submit(steps=1)
    for _ in range(3):
        daemon.kill()
        daemon.restart()
        eventually(lambda: daemon.record(waiting).warnings)
        assert daemon.record(waiting).state == "queued"


def test_a_run_that_no_longer_fits_delays_no_other() -> None:
    """Queued on a larger machine, it waits with the reason while others pass it."""
    capacity = Capacity(runs=4, cpus=2, memory_mb=100, gpus=())
    waiting = [Waiting("huge", ResourcesConfig(cpus=8)), Waiting("small", ResourcesConfig())]
    admission = admit(waiting, {}, capacity)
    assert list(admission.granted) == ["small"]
    assert "it requests 8 CPUs" in admission.waits["huge"]


@pytest.mark.process
def test_a_file_where_a_run_should_be(daemon: DaemonUnderTest) -> None:
    """One stray file does not keep a daemon from starting."""
    daemon.kill()
    stray = daemon.home.runs / new_ulid()
    stray.write_text("not a run")
    daemon.restart()
    assert (daemon.home.quarantine / stray.name).read_text() == "not a run"


@pytest.mark.process
@pytest.mark.parametrize("content", [None, "{"])
def test_no_run_is_lost_while_it_lives(daemon: DaemonUnderTest, content: str | None) -> None:
    """Without a record of its process, the processes are found and ended first."""
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
def test_frozen_and_not_recorded(daemon: DaemonUnderTest) -> None:
    """A daemon that went between freezing a run and saying so: it is found paused, and resumes."""
    run_id = daemon.submit(**ENDLESS)
    worker = _started(daemon, run_id).pid
    daemon.kill()
    os.killpg(worker, signal.SIGSTOP)
    daemon.restart()
    daemon.until(run_id, RunState.PAUSED)
    daemon.stub.ResumeRun(pb.RunRef(run_id=run_id))
    eventually(lambda: (stat := read_stat(worker)) is not None and stat.state != "T")


@pytest.mark.process
def test_a_cancelled_run_waits_for_nothing(daemon: DaemonUnderTest) -> None:
    """The reason why it waited goes with it."""
    limit = daemon.stub.GetHealth(pb.GetHealthRequest()).cpus
    for _ in range(limit):
        daemon.submit(**ENDLESS)
    waiting = daemon.submit(steps=1)
    eventually(lambda: daemon.record(waiting).warnings)
    assert not daemon.stub.CancelRun(pb.CancelRunRequest(run_id=waiting)).warnings


@pytest.mark.process
def test_a_lost_registry_keeps_what_a_run_was_started_with(daemon: DaemonUnderTest) -> None:
    """Command, bundle and times come back from the directory, so that nothing it needs goes."""
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


TELLTALE = """
import json, os, sys
if "--describe" in sys.argv:
    print(json.dumps({"worker": "telltale", "modes": ["train"], "algorithms": [{"id": "tell"}]}))
    sys.exit()
key = os.environ["WANDB_API_KEY"]
told = {"type": "config", "run_id": "r", "algo": "tell", "env_id": "E", "args": {"k": key}}
print(json.dumps(told))
print("the key is", key, file=sys.stderr)
print(json.dumps({"type": "bye", "outcome": "failed", "error": f"bad key {key}", "remedy": key}))
sys.exit(1)
"""


@pytest.mark.process
def test_a_worker_that_prints_its_key(tmp_path: Path) -> None:
    """A key that a worker prints does not get into the list of runs, its details or the log."""
    key = "key-0123456789abcdef"
    worker = tmp_path / "workers" / "telltale"
    (worker / "telltale").mkdir(parents=True)
    (worker / "worker.toml").write_text('id = "telltale"\nlabel = "T"\nmodule = "telltale"\n')
    (worker / "telltale" / "__main__.py").write_text(TELLTALE)
    daemon = DaemonUnderTest(tmp_path / "daemon")
    daemon.home.trainer.mkdir(parents=True)
    daemon.home.settings.write_text(f"worker_folders = [{json.dumps(str(worker.parent))}]\n")
    (daemon.home.path / ".env").write_text(f"WANDB_API_KEY={key}\n")
    config = {
        "worker": "telltale",
        "algo": "tell",
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
