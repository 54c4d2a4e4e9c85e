"""What the worker and the processes it started take of the machine, as `/proc` tells.

Sent with every heartbeat, so that how a run used its machine is kept like all else it told.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator, NamedTuple

_PROC = Path("/proc")
_MOST_PROCESSES = 1000
"""Looked at; a run that has more is not made slower by counting them."""


class ProcessUse(NamedTuple):
    """Of all processes together, at one moment."""

    rss_bytes: int
    cpu_s: float
    """Used since they began, those that have ended and were waited for included."""
    threads: int
    processes: int


def process_use() -> ProcessUse | None:
    """None where the system does not tell."""
    try:
        page_bytes, ticks = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return None
    pages = used_ticks = threads = processes = 0
    for pid in _with_children(os.getpid()):
        fields = _stat(pid)
        if fields is None:
            continue
        # The name, which may hold anything, and what comes before it are cut off: from `state` on.
        used_ticks += sum(int(fields[at]) for at in range(11, 15))
        threads += int(fields[17])
        pages += int(fields[21])
        processes += 1
    if not processes:
        return None
    return ProcessUse(pages * page_bytes, round(used_ticks / ticks, 2), threads, processes)


def _with_children(pid: int) -> Iterator[int]:
    waiting, seen = [pid], {pid}
    while waiting and len(seen) < _MOST_PROCESSES:
        parent = waiting.pop()
        yield parent
        for child in _children(parent):
            if child not in seen:
                seen.add(child)
                waiting.append(child)


def _children(pid: int) -> Iterator[int]:
    """Also those that a thread of it has started."""
    try:
        for task in os.listdir(str(_PROC / str(pid) / "task")):  # noqa: PTH208 - quicker
            text = (_PROC / str(pid) / "task" / task / "children").read_bytes()
            yield from map(int, text.split())
    except (OSError, ValueError):
        return


def _stat(pid: int) -> list[bytes] | None:
    try:
        return (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
