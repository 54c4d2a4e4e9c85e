"""`mosaic daemon`, `workers`, `bundles` and `doctor`."""

import signal
import stat

import pytest

from mosaic.contract.process_identity import read_stat
from tests.support.daemon import eventually
from tests.support.mosaic_cli import DEADLINE_S, Mosaic

pytestmark = pytest.mark.process


def test_start_status_stop(mosaic: Mosaic) -> None:
    """A second start does nothing, and the process has exited when stop returns."""
    started = mosaic.json("daemon", "start")
    assert started["started"]
    again = mosaic.json("daemon", "start")
    assert (again["started"], again["pid"]) == (False, started["pid"])
    status = mosaic.json("daemon", "status")
    assert (status["pid"], status["home"]) == (started["pid"], str(mosaic.home.path))
    assert started["address"] in mosaic.ok("daemon", "status")
    assert mosaic.json("daemon", "stop") == {"stopped": True, "runs_left_running": 0}
    process = read_stat(started["pid"])
    assert process is None or process.is_dead
    assert not mosaic.json("daemon", "stop")["stopped"]
    assert mosaic("daemon", "status").returncode == 3


def test_runs_keep_running_without_the_daemon(mosaic: Mosaic) -> None:
    """Stop prints their number, and the next daemon manages them."""
    run_id = mosaic.train("--detach", "--set", "steps=100000", "--set", "rate=200")["run_id"]
    eventually(lambda: mosaic.json("runs", "show", run_id)["state"] == "running")
    assert mosaic.json("daemon", "stop")["runs_left_running"] == 1
    mosaic.ok("daemon", "start")
    assert mosaic.json("runs", "show", run_id)["state"] == "running"
    mosaic.ok("runs", "stop", "--all")


def test_run_stays_in_the_foreground_until_ctrl_c(mosaic: Mosaic) -> None:
    """It prints its log and exits with 0."""
    process = mosaic.start("daemon", "run", "--port", "0")
    assert process.stderr is not None
    assert "T395" in process.stderr.readline()
    assert mosaic.json("daemon", "status")["pid"] == process.pid
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0


def test_the_reason_of_a_failed_start_is_printed(mosaic: Mosaic) -> None:
    """The daemon's error is printed, with exit code 1."""
    done = mosaic("daemon", "start", "--host", "0.0.0.0")  # noqa: S104 - to be refused
    assert done.returncode == 1
    assert "TLS" in done.stderr


def test_workers_and_bundles(mosaic: Mosaic) -> None:
    """They start a daemon, and list workers with their capabilities and bundles."""
    (worker,) = [
        each for each in mosaic.json("workers")["workers"] if each["worker_id"] == "echo_worker"
    ]
    assert worker["descriptor"]["supports"]["pause"]
    assert "echo_worker" in mosaic.ok("workers")
    detail = mosaic.ok("workers", "echo_worker")
    assert "episode_length" in detail
    installed = mosaic.json("bundles", "install", "echo_worker")
    assert (installed["name"], installed["state"]) == ("echo_worker", "ready")
    listed = mosaic.json("bundles", "list")["bundles"]
    assert "echo_worker" in {bundle["name"] for bundle in listed}
    assert "ready" in mosaic.ok("bundles", "list")
    assert mosaic.json("bundles", "remove", "echo_worker")["removed"]


def test_doctor_works_without_a_daemon(mosaic: Mosaic) -> None:
    """Also without a home; a problem sets exit code 1."""
    found = mosaic.json("doctor")
    checks = {finding["check"]: finding["status"] for finding in found["findings"]}
    assert {"python", "packages", "home", "disk", "daemon", "GPU", "secrets"} <= set(checks)
    assert "worker echo_worker" in checks
    assert found["problems"] == 0
    assert not mosaic.home.path.exists()
    mosaic.home.trainer.mkdir(parents=True)
    mosaic.home.secrets.write_text("WANDB_API_KEY=x\n")
    mosaic.home.secrets.chmod(stat.S_IRUSR | stat.S_IROTH)
    mosaic.home.settings.write_text("prot = 1\n")
    done = mosaic("doctor")
    assert done.returncode == 1
    assert "prot" in done.stdout
    assert "secrets.env" in done.stdout
    assert "2 problems" in done.stdout
