"""pytest plugin: no hang is silent, in Python or in native code.

A native thread of `faulthandler` needs neither the interpreter lock nor a signal handler, so it
also sees a test that blocks in native code. It covers collection, each test with its fixtures, and
the shutdown of the interpreter.

Under `./test` this process also says in a file what it is doing. `setup/test_run.py` reads it, adds
the stacks of child processes, and ends what is stuck. Without `./test` the process ends itself.
"""

import faulthandler
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

ACTIVITY_FOLDER = "MOSAIC_TEST_ACTIVITY"
"""Environment variable: the folder of the activity files. Set by `./test`."""

OPTION = "stuck_timeout_s"


class StuckTests:
    """Knows what this process is doing, and since when."""

    def __init__(self, timeout_s: float) -> None:
        folder = os.environ.get(ACTIVITY_FOLDER)
        self._file = Path(folder, str(os.getpid())) if folder else None
        self._timeout_s = timeout_s
        # Output is not captured while pytest configures itself, so this is the real stderr.
        self._stderr = os.dup(sys.__stderr__.fileno() if sys.__stderr__ else 2)
        faulthandler.enable(file=self._stderr)

    def start(self, activity: str) -> None:
        """From now on `activity` may take `stuck_timeout_s`."""
        if self._file:
            self._file.write_text(activity, "utf-8")
        self.watch()

    def watch(self) -> None:
        faulthandler.dump_traceback_later(
            self._timeout_s, exit=self._file is None, file=self._stderr
        )

    def report_progress(self) -> None:
        """A test that waits for many small ones is not stuck while these finish."""
        if self._file and self._file.exists():
            self._file.touch()
        self.watch()

    def finish(self) -> None:
        faulthandler.cancel_dump_traceback_later()
        if self._file:
            self._file.unlink(missing_ok=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        self.start("collection")
        result = yield
        self.finish()
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self) -> None:
        """Each collected file is progress: on a busy machine all of them take minutes."""
        self.report_progress()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.start(item.nodeid)
        result = yield
        self.finish()
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Nothing calls `finish` any more: the interpreter shuts down next.

        A process of pytest-xdist still waits for the others, and is ended by the main process.
        """
        if not hasattr(config, "workerinput"):
            self.start("shutdown of the interpreter")


_registered: list[StuckTests] = []


def report_progress() -> None:
    """The running test has got further; it has the whole time limit again."""
    for stuck_tests in _registered:
        stuck_tests.report_progress()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(OPTION, "Seconds after which a test counts as stuck.", default="150")


def pytest_configure(config: pytest.Config) -> None:
    stuck_tests = StuckTests(float(config.getini(OPTION)))
    _registered.append(stuck_tests)
    config.pluginmanager.register(stuck_tests, "stuck-tests")
