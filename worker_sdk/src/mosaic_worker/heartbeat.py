"""Heartbeat: periodic lines with the resource usage of the worker and its child processes."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, NamedTuple

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter

PERIOD_SECONDS = 5.0
_PROC = Path("/proc")
_MAX_PROCESSES = 1000
"""Further processes are not counted, to limit the time that counting takes."""


class Heartbeat:
    """Emits `heartbeat` lines from a thread. Set `global_step` from the training loop."""

    def __init__(self, emitter: Emitter, period_s: float = PERIOD_SECONDS) -> None:
        self.global_step = 0
        self._emitter = emitter
        self._period_s = period_s
        self._stopped = threading.Event()
        self._last: tuple[float, int] | None = None
        self._thread = threading.Thread(target=self._run, name="mosaic-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread. No heartbeat is emitted after this returns."""
        self._stopped.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            usage = read_process_usage()
            self._emitter.heartbeat(
                global_step=self.global_step,
                sps=self._steps_per_second(time.monotonic()),
                **(usage._asdict() if usage else {}),
            )
            self._stopped.wait(self._period_s)

    def _steps_per_second(self, now: float) -> float | None:
        """Return the rate since the last heartbeat; None for the first."""
        last, step = self._last, self.global_step
        self._last = (now, step)
        if last is None or now <= last[0]:
            return None
        return round((step - last[1]) / (now - last[0]), 1)


class ProcessUsage(NamedTuple):
    """Totals of the worker and its child processes."""

    rss_bytes: int
    cpu_s: float
    """Since they started, including children that ended and were waited for."""
    threads: int
    processes: int


def read_process_usage() -> ProcessUsage | None:
    """Read `/proc`; None where the system does not have it."""
    try:
        page_bytes, ticks = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return None
    pages = used_ticks = threads = processes = 0
    for pid in _process_tree(os.getpid()):
        fields = _read_stat(pid)
        if fields is None:
            continue
        # From `state` on: the process name before it may contain any character.
        used_ticks += sum(int(fields[index]) for index in range(11, 15))
        threads += int(fields[17])
        pages += int(fields[21])
        processes += 1
    if not processes:
        return None
    return ProcessUsage(pages * page_bytes, round(used_ticks / ticks, 2), threads, processes)


def _process_tree(pid: int) -> Iterator[int]:
    pending, seen = [pid], {pid}
    while pending and len(seen) < _MAX_PROCESSES:
        parent = pending.pop()
        yield parent
        for child in _children(parent):
            if child not in seen:
                seen.add(child)
                pending.append(child)


def _children(pid: int) -> Iterator[int]:
    """Child processes of all its threads."""
    try:
        for task in os.listdir(str(_PROC / str(pid) / "task")):  # noqa: PTH208 - faster
            text = (_PROC / str(pid) / "task" / task / "children").read_bytes()
            yield from map(int, text.split())
    except (OSError, ValueError):
        return


def _read_stat(pid: int) -> list[bytes] | None:
    try:
        return (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
