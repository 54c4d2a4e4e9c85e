"""What ./test does with checks that fail, in a small project of its own with the real tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.process

PROJECT = """\
[tool.ruff]
line-length = 100

[tool.mypy]
files = ["small.py"]

[tool.pytest.ini_options]
markers = ["process: starts processes"]
"""
CONTRACTS = """\
[importlinter]
root_package = small_package
include_external_packages = True

[importlinter:contract:one]
name = nothing of the sort
type = forbidden
source_modules = small_package
forbidden_modules = sqlite3
"""
TESTS = """\
import pytest


@pytest.mark.process
def test_with_a_process() -> None:
    pass


def test_without() -> None:
    pass
"""


@pytest.fixture
def project(tmp_path: Path, repository: Path) -> Path:
    files = {
        "pyproject.toml": PROJECT,
        ".importlinter": CONTRACTS,
        "small.py": "NUMBER: int = 1\n",
        "small_package/__init__.py": "",
        "tests/test_small.py": TESTS,
        "tests/support/bundles.py": "",
        "mkdocs.yml": "site_name: small\n",
        "docs/index.md": "# Small\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "setup").mkdir()
    for name in ("checks.py", "test_run.py", "process_tree.py"):
        shutil.copy(repository / "setup" / name, tmp_path / "setup")
    return tmp_path


def run(
    project: Path, *arguments: str, for_pytest: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """One test process is enough for the two tests of the small project."""
    given = [*arguments, "--", "-n", "1", *for_pytest]
    return subprocess.run(
        [sys.executable, project / "setup" / "checks.py", *given],
        cwd=project.parent,
        # What mypy knows of the standard library is the same in every project.
        env={**os.environ, "MYPY_CACHE_DIR": str(REPOSITORY / ".venv-setup" / "mypy-for-tests")},
        check=False,
        capture_output=True,
        text=True,
    )


def test_all_pass(project: Path) -> None:
    """Everything in order: exit code 0, and the summary says so."""
    finished = run(project)

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "2 passed" in finished.stdout
    assert finished.stdout.endswith("All checks passed.\n")


def test_one_failure_stops_nothing_and_is_named(project: Path) -> None:
    """The other checks still run; the summary lists what failed, after pytest's own last line."""
    (project / "small.py").write_text("NUMBER: int = 'one'\n", "utf-8")

    finished = run(project, "--quick")

    assert finished.returncode == 1
    assert "1 passed in" in finished.stdout
    summary = finished.stdout[finished.stdout.index("1 passed") :].splitlines()
    assert any(line.startswith("FAILED  types") for line in summary)
    assert any(line.startswith("passed  tests") for line in summary)
    assert summary[-1] == "Failed: format, types."


def test_arguments_after_the_dashes_go_to_pytest(project: Path) -> None:
    """`./test -- -k without` selects tests and leaves the other checks as they are."""
    finished = run(project, for_pytest=("-k", "without"))

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "1 passed in" in finished.stdout
