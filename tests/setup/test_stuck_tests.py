"""A test run with a stuck test ends: it fails, names the test and prints the stacks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

STUCK = """\
import ctypes
import subprocess
import sys
from collections.abc import Iterator

import pytest


def block_in_native_code() -> None:
    '''Holds the interpreter lock: no Python code of this process runs any more.'''
    ctypes.PyDLL(None).pause()


@pytest.fixture
def never_torn_down() -> Iterator[None]:
    yield
    block_in_native_code()


def test_native() -> None:
    block_in_native_code()


def test_fixture(never_torn_down: None) -> None:
    pass


def test_child() -> None:
    subprocess.run([sys.executable, "-c", "def nap():\\n import time\\n time.sleep(600)\\nnap()"])


def test_passes() -> None:
    pass
"""
STUCK_AT_EXIT = """\
import atexit
import ctypes


def block_in_native_code() -> None:
    ctypes.PyDLL(None).pause()


def test_passes() -> None:
    atexit.register(block_in_native_code)
"""
STUCK_AFTER_THE_TESTS = """\
import ctypes

import pytest


class Plugin:
    def pytest_sessionfinish(self) -> None:
        ctypes.PyDLL(None).pause()


@pytest.fixture
def plugin(pytestconfig: pytest.Config) -> None:
    pytestconfig.pluginmanager.register(Plugin())


def test_passes(plugin: None) -> None:
    pass
"""
RUN = """\
import sys
from pathlib import Path
from test_run import Limits, run_tests
command = [sys.executable, "-m", "pytest", "--rootdir", ".", *sys.argv[1:]]
sys.exit(run_tests(command, Path.cwd(), Limits(activity_s={limit_s}, total_s=100)))
"""
LIMIT_S = 12
"""Longer than collecting these suites takes on a busy machine."""


def run_suite(
    folder: Path, repository: Path, suite: str, *command: str
) -> "subprocess.CompletedProcess[str]":
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.support.stuck_tests"]\n')
    (folder / "test_suite.py").write_text(suite)
    inherited = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    inherited.pop("MOSAIC_TEST_ACTIVITY", None)
    done = subprocess.run(
        [sys.executable, *command, "-p", "no:faulthandler"],
        cwd=folder,
        env={
            **inherited,
            "PYTHONPATH": f"{repository / 'setup'}:{repository}",
            # Otherwise it deletes the temporary directories of older runs, for minutes.
            "PYTEST_DEBUG_TEMPROOT": str(folder),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    print(done.stdout, done.stderr)  # pytest shows it if the test fails
    return done


@pytest.mark.long
def test_every_stuck_test_is_named_with_its_stacks(tmp_path: Path, repository: Path) -> None:
    """In the test itself, in a fixture, and in a child process. The other tests still run."""
    run = RUN.format(limit_s=LIMIT_S)
    done = run_suite(tmp_path, repository, STUCK, "-c", run, "-n", "4")
    assert done.returncode == 1
    for name in ("test_native", "test_fixture", "test_child"):
        assert f"stuck: test_suite.py::{name}, after" in done.stdout
    assert done.stdout.count("block_in_native_code (test_suite.py") == 2
    assert "nap (<string>" in done.stdout, "the stack of the child process"
    assert "3 failed, 2 passed" in done.stdout


def test_a_process_that_cannot_exit_is_ended(tmp_path: Path, repository: Path) -> None:
    """Its tests have passed, and the run fails."""
    run = RUN.format(limit_s=LIMIT_S)
    done = run_suite(tmp_path, repository, STUCK_AT_EXIT, "-c", run, "-n", "0")
    assert "1 passed" in done.stdout
    assert "stuck: shutdown of the interpreter" in done.stdout
    assert done.returncode == 1


def test_a_process_that_runs_no_test_is_ended(tmp_path: Path, repository: Path) -> None:
    """It is stuck after its tests, where it has no activity."""
    run = RUN.format(limit_s=LIMIT_S)
    done = run_suite(tmp_path, repository, STUCK_AFTER_THE_TESTS, "-c", run, "-n", "0")
    assert "stuck: pytest, without a test for" in done.stdout
    assert "pytest_sessionfinish (test_suite.py" in done.stdout
    assert done.returncode == 1


def test_pytest_alone_ends_too(tmp_path: Path, repository: Path) -> None:
    """Without ./test there is no watcher outside, so the process exits."""
    command = ("-m", "pytest", "--rootdir", ".", "-o", f"stuck_timeout_s={LIMIT_S}", "-k", "native")
    done = run_suite(tmp_path, repository, STUCK, *command)
    assert done.returncode == 1
    assert "in block_in_native_code" in done.stderr
    assert "in test_native" in done.stderr
