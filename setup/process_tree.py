"""Processes of a test run: finds them, prints their stacks, and kills them.

Linux only, from `/proc`. A process whose parent has exited is found by its environment.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_NATIVE_STACKS_TIMEOUT_S = 8
_PYTHON_STACKS_TIMEOUT_S = 4


def descendants(pid: int) -> list[int]:
    """Return the live processes below `pid`, parents before children."""
    children: dict[int, list[int]] = {}
    for process in _pids():
        state, parent = _state(process)
        if state not in "ZX":
            children.setdefault(parent, []).append(process)
    pids = children.get(pid, [])
    for child in pids:  # grows while it is read
        pids += children.get(child, [])
    return pids


def is_alive(pid: int) -> bool:
    return _state(pid)[0] not in "ZX"


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return "(exited)"


def stacks(pid: int) -> str:
    """Return the stacks of all threads of a Python process, even if it blocks in native code."""
    py_spy = shutil.which("py-spy", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if py_spy is None:
        return "(py-spy is not installed)"
    problem = ""
    for option, timeout_s in (
        ("--native", _NATIVE_STACKS_TIMEOUT_S),  # needs more privileges than the other
        ("--nonblocking", _PYTHON_STACKS_TIMEOUT_S),
    ):
        try:
            done = subprocess.run(
                [py_spy, "dump", "--pid", str(pid), option],
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            problem = "its stacks could not be read in time"
            continue
        if done.stdout.strip():
            return done.stdout.strip()
        problem = done.stderr.strip()
    return f"({problem})"


def kill_tree(pid: int) -> None:
    """Send SIGKILL to `pid` and all processes below it."""
    for process in [pid, *descendants(pid)]:
        _kill(process)


def find_marked(mark: str) -> list[int]:
    """Return the other live processes that have `mark` in their environment."""
    pids = []
    for pid in _pids():
        if pid != os.getpid() and _state(pid)[0] not in "ZX":
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if os.fsencode(mark) in environment:
                pids.append(pid)
    return pids


def kill_marked(mark: str, timeout_s: float = 10.0) -> list[str]:
    """Kill all processes with `mark` in their environment; return their command lines."""
    command_lines = {pid: command_line(pid) for pid in find_marked(mark)}
    deadline = time.monotonic() + timeout_s
    while (left := find_marked(mark)) and time.monotonic() < deadline:
        for pid in left:
            _kill(pid)
        time.sleep(0.01)
    return list(command_lines.values())


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _state(pid: int) -> tuple[str, int]:
    """Return the state letter and the parent; `X` for a process that does not exist."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "X", 0
    return fields[0], int(fields[1])
