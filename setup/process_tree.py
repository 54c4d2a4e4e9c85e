"""Processes of a test run: finding them, printing their stacks, and ending them.

Linux only, from `/proc`. A process whose parent has ended is found by its environment.
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

_STACKS_TIMEOUT_S = 20


def descendants(pid: int) -> list[int]:
    """Live processes below `pid`, parents before children."""
    children: dict[int, list[int]] = {}
    for process in _pids():
        state, parent = _state(process)
        if state not in "ZX":
            children.setdefault(parent, []).append(process)
    found = children.get(pid, [])
    for child in found:  # grows while it is read
        found += children.get(child, [])
    return found


def is_alive(pid: int) -> bool:
    return _state(pid)[0] not in "ZX"


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return "(ended)"


def stacks(pid: int) -> str:
    """The stacks of all threads of a Python process, wherever it is blocked."""
    py_spy = shutil.which("py-spy", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if py_spy is None:
        return "(py-spy is not installed)"
    problem = ""
    for option in ("--native", "--nonblocking"):  # the former needs more rights
        try:
            done = subprocess.run(
                [py_spy, "dump", "--pid", str(pid), option],
                capture_output=True,
                text=True,
                timeout=_STACKS_TIMEOUT_S,
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
    """Kill -9 `pid` and everything below it."""
    for victim in [pid, *descendants(pid)]:
        _kill(victim)


def marked(mark: str) -> list[int]:
    """Live processes, other than this one, that have `mark` in their environment."""
    found = []
    for pid in _pids():
        if pid != os.getpid() and _state(pid)[0] not in "ZX":
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if os.fsencode(mark) in environment:
                found.append(pid)
    return found


def end_marked(mark: str, timeout_s: float = 10.0) -> list[str]:
    """Kill what still runs with `mark` in its environment; returns the command lines."""
    found = {pid: command_line(pid) for pid in marked(mark)}
    deadline = time.monotonic() + timeout_s
    while (left := marked(mark)) and time.monotonic() < deadline:
        for pid in left:
            _kill(pid)
        time.sleep(0.01)
    return list(found.values())


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _state(pid: int) -> tuple[str, int]:
    """State letter and parent; `X` of a process that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "X", 0
    return fields[0], int(fields[1])
