"""Dry runs use the real entry point of a worker and leave no files."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

import mosaic_worker
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import DryRunReport
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.runs import BundleUse
from mosaic.trainer.bundles.bundle_store import PreparedWorker
from mosaic.trainer.preflight.dry_run import dry_run
from mosaic.trainer.workers.worker_layout import CHECKOUT_WORKERS

pytestmark = pytest.mark.process

ECHO = CHECKOUT_WORKERS / "echo_worker" / "src" / "echo_worker"
ENVIRONMENT = {"PATH": os.environ["PATH"]}
KEY = "0123456789abcdef"


def config(**fields: Any) -> TrainRunConfig:
    return load_run_config({"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"} | fields)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the dry run creates its directory."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def prepare(code: Path, module: str) -> PreparedWorker:
    use = BundleUse(name="", hash="", path="", python="3.11.0")
    return PreparedWorker(Path(sys.executable), module, code, use)


@pytest.fixture
def echo(tmp_path: Path) -> PreparedWorker:
    """The echo worker and the SDK, as in a copy of its code."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "echo_worker").symlink_to(ECHO)
    (code / "mosaic_worker").symlink_to(Path(mosaic_worker.__file__).parent)
    return prepare(code, "echo_worker")


def run_code(tmp_path: Path, text: str, **options: Any) -> DryRunReport:
    """Dry-run a worker with the given code."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "toy.py").write_text(text)
    return dry_run(config(), prepare(code, "toy"), ENVIRONMENT, **options)


def test_the_summary_of_the_worker_is_returned(echo: PreparedWorker, temporary: Path) -> None:
    """With the module, the arguments and the command."""
    report = dry_run(config(seed=7, params={"steps": 12}), echo, ENVIRONMENT)
    assert (report.ok, report.exit_code, report.error_output) == (True, 0, "")
    assert report.summary_json is not None
    summary = json.loads(report.summary_json)
    assert json.loads(report.output) == summary
    assert summary["module"] == "echo_worker"
    assert summary["arguments"]["seed"] == 7
    assert summary["arguments"]["steps"] == 12
    assert report.command[-2:] == ("--dry-run", "--emit-summary")
    assert report.command[:3] == (sys.executable, "-m", "echo_worker")
    assert summary["argv"] == list(report.command[:-2])
    assert list(temporary.iterdir()) == []


def test_the_command_of_a_real_run_is_returned(echo: PreparedWorker) -> None:
    """It has the path of the run's configuration."""
    report = dry_run(config(), echo, ENVIRONMENT, run_config=Path("/var/runs/<run id>/config.json"))
    assert report.run_command == (
        *(sys.executable, "-m", "echo_worker"),
        *("--config", "/var/runs/<run id>/config.json"),
    )


def test_a_worker_that_rejects_the_configuration_reports_why(
    echo: PreparedWorker, temporary: Path
) -> None:
    """The report has its error output and exit code; no error is raised."""
    report = dry_run(config(params={"steps": -1}), echo, ENVIRONMENT)
    assert not report.ok
    assert report.exit_code == 2
    assert report.summary_json is None
    assert "steps" in report.error_output
    assert list(temporary.iterdir()) == []


def test_a_crash_is_reported(tmp_path: Path) -> None:
    """The report has the traceback."""
    report = run_code(tmp_path, "import no_such_package")
    assert (report.ok, report.exit_code) == (False, 1)
    assert "ModuleNotFoundError" in report.error_output


def test_a_worker_that_hangs_is_killed_with_its_children(tmp_path: Path, temporary: Path) -> None:
    """The report has the output until the timeout, and no process is left."""
    pid_file = tmp_path / "child"
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nsleep 600 & echo $! > {pid_file}; echo still running; wait\n")
    python.chmod(0o700)
    use = BundleUse(name="", hash="", path="", python="3.11.0")
    slow = PreparedWorker(python, "toy", tmp_path, use)
    report = dry_run(config(), slow, ENVIRONMENT, limit_s=2.0)
    assert (report.ok, report.exit_code, report.output) == (False, -9, "still running\n")
    assert "[mosaic] It did not finish within 2 s" in report.error_output
    assert list(temporary.iterdir()) == []
    child = Path("/proc") / pid_file.read_text().strip() / "stat"
    deadline = time.monotonic() + 60
    while _is_alive(child):
        assert time.monotonic() < deadline, "the child is still alive"
        time.sleep(0.005)


def _is_alive(stat: Path) -> bool:
    try:
        return b") Z" not in stat.read_bytes()
    except OSError:
        return False


def test_output_before_the_summary_is_ignored(tmp_path: Path) -> None:
    """The output is unchanged, and the summary is parsed from its end."""
    text = "import json\nprint('pygame 2.6\\n{not json}')\nprint(json.dumps({'a': 1}, indent=2))"
    report = run_code(tmp_path, text)
    assert report.ok
    assert report.summary_json == b'{"a":1}'
    assert report.output == 'pygame 2.6\n{not json}\n{\n  "a": 1\n}\n'


@pytest.mark.parametrize("text", ["", "print('ready')", "print('[1, 2]')", "print('{\"a\": ')"])
def test_a_worker_without_a_summary_is_not_ok(tmp_path: Path, text: str) -> None:
    """Even if its exit code is 0."""
    report = run_code(tmp_path, text)
    assert (report.ok, report.exit_code, report.summary_json) == (False, 0, None)
    assert "[mosaic] It printed no summary" in report.error_output


def test_long_output_is_truncated(tmp_path: Path) -> None:
    """The limit is 1 MiB, and the report says that the output is truncated."""
    report = run_code(tmp_path, "import os\nfor n in range(64): os.write(1, b'x' * 65536)")
    assert len(report.output) == 1 << 20
    assert "truncated" in report.error_output


def test_a_secret_that_the_worker_prints_is_redacted(tmp_path: Path) -> None:
    """The worker gets the secret as in a run; the report does not contain it."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "toy.py").write_text(
        "import json, os, sys\n"
        "key = os.environ['WANDB_API_KEY']\n"
        "print(key, file=sys.stderr)\n"
        "print(json.dumps({'key': key}))\n"
    )
    report = dry_run(
        config(),
        prepare(code, "toy"),
        {**ENVIRONMENT, "WANDB_API_KEY": KEY},
        redact=lambda text: text.replace(KEY, "[secret WANDB_API_KEY]"),
    )
    assert report.ok
    assert KEY not in repr(report)
    assert report.summary_json == b'{"key":"[secret WANDB_API_KEY]"}'


def test_the_process_environment_is_that_of_a_run(tmp_path: Path) -> None:
    """Working directory and run variables, no input, no variables of the daemon."""
    text = (
        "import json, os, sys\n"
        "names = ('MOSAIC_RUN_ID', 'MOSAIC_RUN_DIR', 'PYTHONUNBUFFERED', 'HOME')\n"
        "print(json.dumps({'cwd': os.getcwd(), 'input': sys.stdin.read(),\n"
        "    'config': os.path.isfile('config.json'), 'group': os.getpgid(0) == os.getpid(),\n"
        "    **{name: os.environ.get(name) for name in names}}))\n"
        "open('left-behind', 'w').write('x')\n"
    )
    report = run_code(tmp_path, text)
    assert report.summary_json is not None, report.error_output
    seen = json.loads(report.summary_json)
    assert seen["cwd"] == seen["MOSAIC_RUN_DIR"]
    assert Path(seen["cwd"]).name == seen["MOSAIC_RUN_ID"]
    assert (seen["input"], seen["config"], seen["group"]) == ("", True, True)
    assert (seen["PYTHONUNBUFFERED"], seen["HOME"]) == ("1", None)
    assert not Path(seen["cwd"]).exists()


def test_a_missing_interpreter_is_reported(echo: PreparedWorker) -> None:
    """The bundle may have been removed after the lookup."""
    missing = PreparedWorker(Path("/no/such/python"), echo.module, echo.code, echo.use)
    report = dry_run(config(), missing, ENVIRONMENT)
    assert (report.ok, report.exit_code) == (False, 127)
    assert "Repair the bundle" in report.error_output


def test_a_directory_that_cannot_be_created_is_reported(
    echo: PreparedWorker, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error has a code for users."""
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    with pytest.raises(UserError, match="T346"):
        dry_run(config(), echo, ENVIRONMENT)
