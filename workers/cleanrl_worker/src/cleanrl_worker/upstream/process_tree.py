"""The processes below one process, as the system lists them, and signals to all of them."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

_SET_CHILD_SUBREAPER = 36  # of prctl
_ROUNDS = 5


def adopt_orphans() -> None:
    """Make processes whose parent ends children of this one, so that none gets out of sight."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        return  # not Linux: they are then only known while their parents live


def descendants(pid: int) -> list[int]:
    """Every process below `pid` that has not ended, parents before their children."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        if entry.name.isdigit():
            parent = _living_parent(entry)
            if parent is not None:
                children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found += below
        waiting += below
    return found


def signal_tree(pid: int, number: signal.Signals) -> None:
    """Signal `pid` and all below it; those that appear meanwhile too."""
    told: set[int] = set()
    for _ in range(_ROUNDS):
        new = [each for each in (pid, *descendants(pid)) if each not in told]
        if not new:
            return
        for each in new:
            send(each, number)
            told.add(each)


def send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _living_parent(entry: Path) -> int | None:
    try:
        status = (entry / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    state, parent, *_ = status.rpartition(")")[2].split()
    return None if state == "Z" else int(parent)
