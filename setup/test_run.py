"""Runs pytest so that it always ends: a stuck test is reported with its stacks, and killed.

`tests/support/stuck_tests.py` writes the current activity of each test process to a file. This
module reads it from outside, so that nothing inside the process has to work. pytest-xdist reports a
killed process as a failure of the test that it ran, and starts another one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from process_tree import command_line, descendants, is_alive, kill_marked, kill_tree, stacks

if TYPE_CHECKING:
    from collections.abc import Sequence

ACTIVITY_FOLDER = "MOSAIC_TEST_ACTIVITY"
_POLL_S = 0.5
_INTERRUPT_TIMEOUT_S = 20.0
_FAILED = 1


@dataclass(frozen=True)
class Limits:
    """Time limits of a test run, in seconds."""

    activity_s: float = 165.0
    """Limit of one test with its fixtures, of the collection, and of the exit of a process."""
    total_s: float = 2400.0


def run_tests(command: Sequence[str], cwd: Path, limits: Limits = Limits()) -> int:  # noqa: B008 - frozen
    """Run pytest; return its exit code, or 1 if something was stuck or left running."""
    with tempfile.TemporaryDirectory(prefix="mosaic-test-activity-") as folder:
        process = subprocess.Popen(
            command, cwd=cwd, env={**os.environ, ACTIVITY_FOLDER: folder}, stdin=subprocess.DEVNULL
        )
        try:
            watch = _PytestWatch(process, Path(folder), limits)
            code = watch.wait()
        except KeyboardInterrupt:
            _wait_for_interrupted(process)
            raise
        finally:
            leftovers = kill_marked(folder)
    for text in watch.reports:
        print(text)
    if leftovers and not watch.reports:
        print("Still running after the tests:\n  " + "\n  ".join(leftovers))
    return _FAILED if leftovers or watch.reports else code


def _wait_for_interrupted(process: subprocess.Popen[bytes]) -> None:
    """Wait for pytest, which also received Ctrl-C, to print its summary."""
    try:
        process.wait(_INTERRUPT_TIMEOUT_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()


class _PytestWatch:
    """Waits for pytest, and kills stuck processes below it."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, limits: Limits) -> None:
        self.reports: list[str] = []
        self._process = process
        self._folder = folder
        self._limits = limits
        self._deadline = time.monotonic() + limits.total_s
        self._last_activity = time.monotonic()

    def wait(self) -> int:
        while True:
            try:
                return self._process.wait(_POLL_S)
            except subprocess.TimeoutExpired:
                self._check_activity()
            if time.monotonic() > self._deadline:
                self._report_and_kill(
                    self._process.pid, f"the whole run, after {self._limits.total_s:g} s"
                )

    def _check_activity(self) -> None:
        now = time.time()
        for file in self._folder.iterdir():
            try:
                age_s, activity = now - file.stat().st_mtime, file.read_text("utf-8")
            except FileNotFoundError:
                continue  # finished in between
            self._last_activity = time.monotonic()
            if age_s > self._limits.activity_s:
                file.unlink(missing_ok=True)
                pid = int(file.name)
                if is_alive(pid):  # otherwise it crashed, and pytest reported that
                    self._report_and_kill(pid, f"{activity}, after {age_s:.0f} s")
        silent_s = time.monotonic() - self._last_activity
        if silent_s > self._limits.activity_s:
            self._report_and_kill(self._process.pid, f"pytest, without a test for {silent_s:.0f} s")
            self._last_activity = time.monotonic()

    def _report_and_kill(self, pid: int, activity: str) -> None:
        lines = [f"\n── stuck: {activity} ──"]
        pids = [pid, *descendants(pid)]
        with ThreadPoolExecutor(len(pids)) as pool:  # one after the other can take minutes
            for process, text in zip(pids, pool.map(stacks, pids), strict=True):
                lines += [f"\nprocess {process}: {command_line(process)[:200]}", text]
        self.reports.append("\n".join(lines))
        print(self.reports[-1], file=sys.stderr, flush=True)
        kill_tree(pid)
