"""The complete report, with real workers, a real bundle store and a real registry."""

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


def test_a_worker_without_a_bundle_is_ready(sandbox: PreflightSandbox) -> None:
    """All items are OK, and the report has the command of a run."""
    sandbox.put_worker()
    report = sandbox.report()
    assert not report.is_blocked
    assert {item.status for item in report.items} == {CheckStatus.OK}
    python, *arguments = report.command
    assert Path(python).is_file()
    assert arguments[:3] == ["-m", WORKER, "--config"]
    assert arguments[3].startswith(str(sandbox.home.runs))


def test_each_check_is_reported_once_in_a_stable_order(sandbox: PreflightSandbox) -> None:
    """The order is the same in every report."""
    sandbox.put_worker()
    first = [item.check for item in sandbox.report().items]
    assert len(first) == len(set(first))
    assert first == [item.check for item in sandbox.report().items]
    assert {"worker", "mode", "bundle", "python", "packages", "cpus", "disk"} <= set(first)


def test_an_unknown_worker_blocks(sandbox: PreflightSandbox) -> None:
    """The remedy suggests a similar id."""
    sandbox.put_worker()
    report = sandbox.report(config(worker="toy_wroker"))
    assert report.is_blocked
    assert "Did you mean toy_worker?" in item_of(report, "worker").remedy


def test_a_script_that_cannot_be_run_blocks(sandbox: PreflightSandbox) -> None:
    """A missing file, a relative path, and a worker that does not run scripts."""
    sandbox.put_worker()
    script = sandbox.root / "own.py"
    item = item_of(sandbox.report(config(algo=None, script=str(script))), "script")
    assert (item.status, "does not exist" in item.message) == (CheckStatus.BLOCKING, True)
    assert "absolute path" in item_of(sandbox.report(config(script="./own.py")), "script").message
    script.write_text("")
    other = sandbox.report(config(algo=None, script=str(script.with_name("own2.py"))))
    assert "own.py" in item_of(other, "script").remedy
    unsupported = item_of(sandbox.report(config(algo=None, script=str(script))), "script")
    assert "does not run scripts" in unsupported.message


def test_the_parameters_of_a_script_are_validated(sandbox: PreflightSandbox) -> None:
    """The worker describes the script as its only algorithm."""
    rate = {"name": "rate", "type": "float", "default": 0.1}
    sandbox.put_worker(supports={"scripts": True}, algorithms=[{"id": "own", "parameters": [rate]}])
    script = sandbox.root / "own.py"
    script.write_text("")
    valid = sandbox.report(config(algo=None, script=str(script), params={"rate": 0.5}))
    assert not valid.is_blocked
    assert str(script) in item_of(valid, "algorithm").message
    invalid = sandbox.report(config(algo=None, script=str(script), params={"rat": 0.5}))
    assert "Did you mean `rate`?" in item_of(invalid, "parameters").remedy


def test_the_disk_estimate_of_an_analytics_worker_is_small(
    sandbox: PreflightSandbox,
) -> None:
    """Unless the run records all steps."""
    sandbox.put_worker(lane="analytics")
    for steps, is_small in (("auto", True), ("all", False)):
        requested = config(total_timesteps=2_000_000, telemetry={"steps": steps})
        written = item_of(sandbox.report(requested), "disk").message
        assert ("may write 24 MB" in written) is is_small


def test_a_worker_that_cannot_describe_itself_blocks(sandbox: PreflightSandbox) -> None:
    """The message has its error."""
    sandbox.put_worker(package="raise RuntimeError('incomplete edit')")
    report = sandbox.report()
    assert status_of(report, "worker") is CheckStatus.BLOCKING
    assert "incomplete edit" in item_of(report, "worker").message


def test_installing_a_missing_bundle_is_offered(sandbox: PreflightSandbox) -> None:
    """The run may start, because it installs the bundle first."""
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
    """It cannot be installed."""
    sandbox.put_worker()
    report = sandbox.report(config(bundle={"name": "no_such_bundle"}))
    assert status_of(report, "bundle") is CheckStatus.BLOCKING
    assert report.command


def test_repairing_a_broken_bundle_is_offered(sandbox: PreflightSandbox) -> None:
    """A damaged bundle is a warning."""
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


def test_a_worker_without_a_suitable_python_blocks(sandbox: PreflightSandbox) -> None:
    """The message has the required version range."""
    sandbox.put_worker(manifest='python = ">=3.99"')
    report = sandbox.report()
    assert report.is_blocked
    assert any(">=3.99" in item.message for item in report.items)


def test_a_package_that_fails_to_import_blocks(sandbox: PreflightSandbox) -> None:
    """The worker can describe itself, but cannot train."""
    sandbox.put_worker(
        package="import sys\nif '--describe' not in sys.argv: import no_such_package"
    )
    item = item_of(sandbox.report(), "packages")
    assert item.status is CheckStatus.BLOCKING
    assert "no_such_package" in item.message


def test_a_secret_is_never_in_the_report(sandbox: PreflightSandbox) -> None:
    """In an id, the descriptor of the worker, or the environment of the daemon."""
    sandbox.environ |= {"WANDB_API_KEY": KEY, "MOSAIC_XMPP_ADDRESS": f"{KEY}:1"}
    sandbox.put_worker(
        version=f"1.0+{KEY}",
        environments={"ids": ["Other-v1"]},
        needs={"services": ["xmpp"], "credentials": ["WANDB_API_KEY"]},
    )
    report = sandbox.report(config(env_id=f"{KEY}-v1"))
    assert KEY not in repr(report)
    assert "[secret WANDB_API_KEY]" in repr(report)


def test_all_problems_are_reported_together(sandbox: PreflightSandbox) -> None:
    """One report lists every blocking check."""
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
    """Only runs with the same worker, algorithm and environment are used."""
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
    """The documented example can start."""
    sandbox.catalog = WorkerCatalog([CHECKOUT_WORKERS], search_path=[])
    sandbox.bundles = type(sandbox.bundles)(sandbox.home, sandbox.catalog)
    echo = {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"}
    report = sandbox.report(load_run_config(echo))
    assert not report.is_blocked, report.items
    assert report.command[1:3] == ("-m", "echo_worker")


def test_preflight_does_not_start_the_worker(sandbox: PreflightSandbox) -> None:
    """Its module is executed only with `--describe`."""
    marker = sandbox.root / "was-started"
    sandbox.put_worker(main=f"open({json.dumps(str(marker))}, 'w')")
    sandbox.report()
    assert not marker.exists()


def test_the_python_version_is_reported(sandbox: PreflightSandbox) -> None:
    """It is the version of the interpreter in the command."""
    sandbox.put_worker()
    version = ".".join(map(str, sys.version_info[:3]))
    assert version in item_of(sandbox.report(), "python").message
