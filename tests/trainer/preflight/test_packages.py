"""Packages are checked with the interpreter that would run the worker."""

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from mosaic.contract.readiness import CheckStatus, PreflightItem
from mosaic.contract.runs import BundleUse
from mosaic.trainer.bundles.bundle_store import PreparedWorker
from mosaic.trainer.preflight.bundle_checks import check_packages, check_python
from tests.trainer.preflight.conftest import candidate, only

pytestmark = pytest.mark.process


def run_check(
    folder: Path, packages: dict[str, str], python: Path | None = None, limit_s: float = 60.0
) -> PreflightItem:
    (folder / "toy_worker").mkdir(exist_ok=True)
    for name in ("__init__.py", "__main__.py"):
        (folder / "toy_worker" / name).write_text("")
    prepared = PreparedWorker(
        python=python or Path(sys.executable),
        module="toy_worker",
        code=folder,
        use=BundleUse(
            name="toy_bundle", hash="h", path="p", python="3.11.0", extras=(), packages=packages
        ),
    )
    return only(check_packages(candidate(), prepared, {"PATH": "/bin"}, limit_s=limit_s))


def test_packages_as_recorded_are_ok(tmp_path: Path) -> None:
    """Names are normalized, and each top-level module can be imported."""
    names = ("pytest", "Hypothesis", "msgspec", "python_dotenv")
    item = run_check(tmp_path, {name: version(name) for name in names})
    assert item.status is CheckStatus.OK, item.message


def test_a_missing_package_blocks_with_the_repair(tmp_path: Path) -> None:
    """The item offers to repair the bundle."""
    item = run_check(tmp_path, {"pytest": version("pytest"), "no-such-package": "1.0"})
    assert item.status is CheckStatus.BLOCKING
    assert "no-such-package is missing" in item.message
    assert (item.action, item.action_argument) == ("repair_bundle", "toy_bundle")


def test_another_version_blocks(tmp_path: Path) -> None:
    """Earlier results could not be reproduced with another version."""
    item = run_check(tmp_path, {"pytest": "0.0.1"})
    assert f"pytest is {version('pytest')} instead of 0.0.1" in item.message


def test_a_package_without_its_module_blocks(tmp_path: Path) -> None:
    """Its metadata exists, but the module was deleted."""
    info = tmp_path / "ghost-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ghost\nVersion: 1.0\n")
    (info / "RECORD").write_text("ghost/__init__.py,,\nghost-1.0.dist-info/METADATA,,\n")
    assert "ghost of ghost cannot be imported" in run_check(tmp_path, {"ghost": "1.0"}).message
    (tmp_path / "ghost").mkdir()
    (tmp_path / "ghost" / "__init__.py").write_text("")
    assert run_check(tmp_path, {"ghost": "1.0"}).status is CheckStatus.OK


def test_only_the_first_of_many_problems_are_listed(tmp_path: Path) -> None:
    """The message has the number of the others."""
    item = run_check(tmp_path, {f"package-{number}": "1" for number in range(40)})
    assert "35 more" in item.message


def test_a_missing_interpreter_blocks(tmp_path: Path) -> None:
    """The item says that it cannot be executed."""
    item = run_check(tmp_path, {}, python=tmp_path / "missing")
    assert item.status is CheckStatus.BLOCKING
    assert "cannot be executed" in item.message


@pytest.mark.parametrize(
    ("script", "text"),
    [("echo no module named encodings >&2; exit 1", "encodings"), ("echo hello", "failed (0)")],
)
def test_a_failing_interpreter_blocks(tmp_path: Path, script: str, text: str) -> None:
    """The message has its last output."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o700)
    item = run_check(tmp_path, {}, python=python)
    assert item.status is CheckStatus.BLOCKING
    assert text in item.message


def test_a_hanging_interpreter_is_a_warning(tmp_path: Path) -> None:
    """A slow disk does not mean that the bundle is broken."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nsleep 600\n")
    python.chmod(0o700)
    item = run_check(tmp_path, {}, python=python, limit_s=0.2)
    assert item.status is CheckStatus.WARNING
    assert "0.2 s" in item.message


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("3.8.0", CheckStatus.OK),
        ("3.13.1", CheckStatus.OK),
        ("3.14", CheckStatus.OK),
        ("3.7.9", CheckStatus.BLOCKING),
    ],
)
def test_the_python_must_be_in_the_range(version: str, status: CheckStatus) -> None:
    """The toy worker requires Python 3.8 or later."""
    assert only(check_python(candidate().manifest, version)).status is status
