"""The whole report, with real workers, a real store and a real registry."""

import json
import sys
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.readiness import CheckStatus
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunStats
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_layout import CHECKOUT_WORKERS
from tests.trainer.preflight.conftest import WORKER, PreflightSandbox, config, item_of, status_of

pytestmark = pytest.mark.process

KEY = "0123456789abcdef"


def test_a_worker_that_needs_python_alone_is_ready(sandbox: PreflightSandbox) -> None:
    """Nothing blocks or warns, and the command is the one that a run would have."""
    sandbox.put_worker()
    report = sandbox.report()
    assert not report.is_blocked
    assert {item.status for item in report.items} == {CheckStatus.OK}
    python, *arguments = report.command
    assert Path(python).is_file()
    assert arguments[:3] == ["-m", WORKER, "--config"]
    assert arguments[3].startswith(str(sandbox.home.runs))


def test_each_thing_is_reported_once_in_a_steady_order(sandbox: PreflightSandbox) -> None:
    """A person finds an item where it was the last time."""
    sandbox.put_worker()
    first = [item.check for item in sandbox.report().items]
    assert len(first) == len(set(first))
    assert first == [item.check for item in sandbox.report().items]
    assert {"worker", "mode", "bundle", "python", "packages", "cpus", "disk"} <= set(first)


def test_a_worker_that_is_not_there_blocks(sandbox: PreflightSandbox) -> None:
    """The one that was meant is named."""
    sandbox.put_worker()
    report = sandbox.report(config(worker="toy_wroker"))
    assert report.is_blocked
    assert "Did you mean toy_worker?" in item_of(report, "worker").remedy


def test_a_script_that_cannot_be_run_blocks(sandbox: PreflightSandbox) -> None:
    """A worker that runs none, a file that is not there, and a path that leads nowhere else."""
    sandbox.put_worker()
    script = sandbox.root / "own.py"
    item = item_of(sandbox.report(config(algo=None, script=str(script))), "script")
    assert (item.status, "does not exist" in item.message) == (CheckStatus.BLOCKING, True)
    assert "absolute path" in item_of(sandbox.report(config(script="./own.py")), "script").message
    script.write_text("")
    other = sandbox.report(config(algo=None, script=str(script.with_name("own2.py"))))
    assert "own.py" in item_of(other, "script").remedy
    refused = item_of(sandbox.report(config(algo=None, script=str(script))), "script")
    assert "does not run scripts" in refused.message


def test_the_parameters_of_a_script_are_validated(sandbox: PreflightSandbox) -> None:
    """By what the worker says of the script, which is then its only algorithm."""
    rate = {"name": "rate", "type": "float", "default": 0.1}
    sandbox.put_worker(supports={"scripts": True}, algorithms=[{"id": "own", "parameters": [rate]}])
    script = sandbox.root / "own.py"
    script.write_text("")
    fine = sandbox.report(config(algo=None, script=str(script), params={"rate": 0.5}))
    assert not fine.is_blocked
    assert str(script) in item_of(fine, "algorithm").message
    wrong = sandbox.report(config(algo=None, script=str(script), params={"rat": 0.5}))
    assert "Did you mean `rate`?" in item_of(wrong, "parameters").remedy


def test_a_worker_of_metrics_and_files_is_expected_to_write_little(
    sandbox: PreflightSandbox,
) -> None:
    """Unless it records steps."""
    sandbox.put_worker(lane="analytics")
    for steps, is_little in (("auto", True), ("all", False)):
        requested = config(total_timesteps=2_000_000, telemetry={"steps": steps})
        written = item_of(sandbox.report(requested), "disk").message
        assert ("may write 24 MB" in written) is is_little


def test_a_worker_that_cannot_describe_itself_blocks(sandbox: PreflightSandbox) -> None:
    """What it said is in the message."""
    sandbox.put_worker(package="raise RuntimeError('half an edit')")
    report = sandbox.report()
    assert status_of(report, "worker") is CheckStatus.BLOCKING
    assert "half an edit" in item_of(report, "worker").message


def test_a_bundle_that_is_not_installed_is_offered(sandbox: PreflightSandbox) -> None:
    """The run may start anyway: it installs it first. The command shows where it will be."""
    sandbox.put_worker(manifest='bundle = "toy_bundle"')
    (sandbox.requirements / "toy_bundle.txt").write_text("")
    (sandbox.requirements / "toy_bundle.atari.txt").write_text("")
    report = sandbox.report()
    item = item_of(report, "bundle")
    assert item.status is CheckStatus.WARNING
    assert (item.action, item.action_argument) == ("install_bundle", "toy_bundle")
    assert not report.is_blocked
    assert report.command[0].startswith(str(sandbox.home.venvs / "toy_bundle-"))
    with_extras = config(bundle={"name": "toy_bundle", "extras": ["atari"]})
    item = item_of(sandbox.report(with_extras), "bundle")
    assert item.action_argument == "toy_bundle[atari]"


def test_a_bundle_that_does_not_exist_blocks(sandbox: PreflightSandbox) -> None:
    """No installation could help."""
    sandbox.put_worker()
    report = sandbox.report(config(bundle={"name": "no_such_bundle"}))
    assert status_of(report, "bundle") is CheckStatus.BLOCKING
    assert report.command


def test_a_broken_bundle_is_repaired(sandbox: PreflightSandbox) -> None:
    """Installed, then damaged: it warns, and offers the repair."""
    sandbox.put_worker(manifest='bundle = "toy_bundle"')
    (sandbox.requirements / "toy_bundle.txt").write_text("")
    installed = sandbox.bundles.install("toy_bundle", ())
    report = sandbox.report()
    assert status_of(report, "bundle") is CheckStatus.OK
    assert status_of(report, "packages") is CheckStatus.OK
    (sandbox.home.path / installed.path / "bin" / "python").unlink()
    item = item_of(sandbox.report(), "bundle")
    assert item.status is CheckStatus.WARNING
    assert (item.action, item.action_argument) == ("repair_bundle", "toy_bundle")


def test_a_worker_that_no_python_here_can_run_blocks(sandbox: PreflightSandbox) -> None:
    """The message has the range and the found versions."""
    sandbox.put_worker(manifest='python = ">=3.99"')
    report = sandbox.report()
    assert report.is_blocked
    assert any(">=3.99" in item.message for item in report.items)


def test_a_package_that_fails_to_import_blocks(sandbox: PreflightSandbox) -> None:
    """It describes itself with the standard library alone, but could not train."""
    sandbox.put_worker(
        package="import sys\nif '--describe' not in sys.argv: import no_such_package"
    )
    item = item_of(sandbox.report(), "packages")
    assert item.status is CheckStatus.BLOCKING
    assert "no_such_package" in item.message


def test_a_secret_is_never_in_the_report(sandbox: PreflightSandbox) -> None:
    """Whatever text carries it: an id, the worker's own words, the daemon's environment."""
    sandbox.environ |= {"WANDB_API_KEY": KEY, "MOSAIC_XMPP_ADDRESS": f"{KEY}:1"}
    sandbox.put_worker(
        version=f"1.0+{KEY}",
        environments={"ids": ["Other-v1"]},
        needs={"services": ["xmpp"], "credentials": ["WANDB_API_KEY"]},
    )
    report = sandbox.report(config(env_id=f"{KEY}-v1"))
    assert KEY not in repr(report)
    assert "[secret WANDB_API_KEY]" in repr(report)


def test_many_problems_come_at_once(sandbox: PreflightSandbox) -> None:
    """All problems are reported together."""
    sandbox.put_worker(needs={"credentials": ["ABSENT_KEY"], "dataset": True})
    requested = config(
        mode="sweep",
        params={"unknown": 1},
        launcher="ray",
        warm_start="c1",
        resources={"cpus": 4000, "gpus": 9, "memory_mb": 10**9},
    )
    report = sandbox.report(requested, DaemonSettings(min_free_disk_mb=1 << 50, cpus=2))
    blocked = {item.check for item in report.items if item.status is CheckStatus.BLOCKING}
    assert blocked == {
        *("mode", "parameters", "launcher", "warm_start", "dataset", "credentials"),
        *("cpus", "gpu", "memory", "disk"),
    }
    assert all(item.remedy for item in report.items if item.status is not CheckStatus.OK)


def test_expectations_come_from_earlier_runs(sandbox: PreflightSandbox) -> None:
    """From the registry, of the same worker, algorithm and environment alone."""
    sandbox.put_worker()
    for env_id, seconds in (("CartPole-v1", 100.0), ("Other-v1", 9_000.0)):
        run_id = new_ulid()
        sandbox.registry.add(run_id, config(env_id=env_id))
        sandbox.registry.transition(run_id, [RunState.QUEUED], RunState.PREPARING, "")
        sandbox.registry.transition(
            run_id, [RunState.PREPARING], RunState.RUNNING, "", started_at=1_000.0
        )
        digest = RunStats(steps=1_000, sps=10.0, rss_bytes=1 << 20, spool_bytes=300_000)
        sandbox.registry.set_digests({run_id: digest})
        sandbox.registry.transition(
            run_id, [RunState.RUNNING], RunState.SUCCEEDED, "", ended_at=1_000.0 + seconds
        )
    report = sandbox.report(config(total_timesteps=5_000))
    assert report.expected_duration_s == pytest.approx(500.0)
    assert report.expected_sps == 10.0
    assert report.expected_memory_bytes == 1 << 20
    assert report.earlier_runs == 1


def test_the_echo_worker_of_the_checkout_passes(sandbox: PreflightSandbox) -> None:
    """The documented example can always start."""
    sandbox.catalog = WorkerCatalog([CHECKOUT_WORKERS], search_path=[])
    sandbox.bundles = type(sandbox.bundles)(sandbox.home, sandbox.catalog)
    echo = {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"}
    report = sandbox.report(load_run_config(echo))
    assert not report.is_blocked, report.items
    assert report.command[1:3] == ("-m", "echo_worker")


def test_looking_does_not_start_the_worker(sandbox: PreflightSandbox) -> None:
    """Its module runs only to describe itself."""
    note = sandbox.root / "was-started"
    sandbox.put_worker(main=f"open({json.dumps(str(note))}, 'w')")
    sandbox.report()
    assert not note.exists()


def test_this_python_is_the_one_that_runs(sandbox: PreflightSandbox) -> None:
    """The version in the report is that of the interpreter in the command."""
    sandbox.put_worker()
    version = ".".join(map(str, sys.version_info[:3]))
    assert version in item_of(sandbox.report(), "python").message
