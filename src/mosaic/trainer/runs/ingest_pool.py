"""Ingest of all live runs on a few threads.

Each run has one `TelemetryService`, used by one thread at a time. How often a run is polled depends
on the cost of ingest: a few runs are stored within 20 ms of being written, and many share the
threads fairly instead of loading a processor with tiny commits. Runs that have more than one call
stores are polled in turn, whenever no other run is due.
"""

import asyncio
import heapq
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.service import IngestStatus, TelemetryService

_log = logging.getLogger(__name__)

_THREADS = 2
_BUSY_PAUSE_S = 0.02
_IDLE_PAUSE_S = 0.1
_MAX_PAUSE_S = 0.3
_IDLE_FACTOR = 6.0
"""A run is idle for this multiple of the cost of all runs' commits. Each commit writes the last
chunk again, so that fifty runs in small commits would load the disk more than the processor."""
_LARGE_INGEST_BYTES = 256 << 10
"""After this many bytes the next poll follows at once: there is more."""
_BUG_PAUSE_S = 5.0
_MAX_FINISHED = 1_000


@dataclass(eq=False, slots=True)
class _FollowedRun:
    run: RunDirectory
    service: TelemetryService
    pause_s: float = _BUSY_PAUSE_S
    is_ending: bool = False
    is_cancelled: bool = False
    is_busy: bool = False
    ticket: int = 0
    """Identifies its one valid entry in the queue."""
    completed: "Future[None]" = field(default_factory=Future)
    status: IngestStatus | None = None


class IngestPool:
    """Ingests the spools of runs. `on_commit` is called on its threads after each commit."""

    def __init__(self, on_commit: Callable[[str], None], threads: int = _THREADS) -> None:
        self._on_commit = on_commit
        self._condition = threading.Condition()
        self._due: list[tuple[float, int, _FollowedRun]] = []
        self._backlog: deque[tuple[int, _FollowedRun]] = deque()
        """Runs with more lines to store, in order."""
        self._order = itertools.count()
        self._followed: dict[str, _FollowedRun] = {}
        self._finished: dict[str, IngestStatus] = {}
        self._closing = False
        self._threads = [
            threading.Thread(target=self._work, name=f"ingest {number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def follow(self, run: RunDirectory) -> None:
        """Store what the run writes from now on, and what it has written already."""
        with self._condition:
            self._entry(run)

    async def finish(self, run: RunDirectory, timeout_s: float | None) -> bool:
        """After its writers are gone: store the rest. Returns whether that was done in time.

        If not, `status` has the fault, and storing continues in the background.
        """
        with self._condition:
            followed = self._entry(run)
            followed.is_ending = True
            if not followed.is_busy:
                self._schedule(followed, 0.0)
        done, _ = await asyncio.wait([asyncio.wrap_future(followed.completed)], timeout=timeout_s)
        return bool(done)

    def forget(self, run_id: str) -> None:
        """Stop following, before its files are deleted; returns when nothing is open."""
        with self._condition:
            self._finished.pop(run_id, None)
            followed = self._followed.pop(run_id, None)
            if followed is None:
                return
            followed.is_cancelled = True
            followed.completed.cancel()
            self._condition.wait_for(lambda: not followed.is_busy)
        followed.service.close()

    def status(self, run_id: str) -> IngestStatus | None:
        """As of the last poll, also of runs that finished recently; None for any other run."""
        followed = self._followed.get(run_id)
        return followed.status if followed else self._finished.get(run_id)

    def close(self) -> None:
        """Stop the threads. What is not stored yet remains in the spools."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        for thread in self._threads:
            thread.join()
        for followed in self._followed.values():
            followed.service.close()

    def _entry(self, run: RunDirectory) -> _FollowedRun:
        followed = self._followed.get(run.run_id)
        if followed is None:
            followed = self._followed[run.run_id] = _FollowedRun(run, TelemetryService(run))
            self._schedule(followed, 0.0)
        return followed

    def _schedule(self, followed: _FollowedRun, pause_s: float) -> None:
        """Schedule its next poll; an earlier entry in the queue becomes invalid."""
        followed.ticket = next(self._order)
        heapq.heappush(self._due, (time.monotonic() + pause_s, followed.ticket, followed))
        self._condition.notify()

    def _work(self) -> None:
        while (followed := self._next()) is not None:
            try:
                pause_s = self._ingest(followed)
            except Exception:  # noqa: BLE001 - the other runs must continue
                _log.exception("T302 ingest of %s failed because of a bug", followed.run.run_id)
                pause_s = _BUG_PAUSE_S
            self._put_back(followed, pause_s)

    def _next(self) -> _FollowedRun | None:
        """The next run, when it is due; None when the pool closes."""
        with self._condition:
            while not self._closing:
                now = time.monotonic()
                if self._due and self._due[0][0] <= now:
                    _, ticket, followed = heapq.heappop(self._due)
                elif self._backlog:
                    ticket, followed = self._backlog.popleft()
                else:
                    self._condition.wait(self._due[0][0] - now if self._due else None)
                    continue
                if ticket == followed.ticket and not (followed.is_cancelled or followed.is_busy):
                    followed.is_busy = True
                    return followed
        return None

    def _put_back(self, followed: _FollowedRun, pause_s: float) -> None:
        """Schedule the next poll; a pause of 0 means that there is more to store."""
        with self._condition:
            followed.is_busy = False
            if followed.completed.done():
                self._followed.pop(followed.run.run_id, None)
                if followed.status is not None:
                    self._finished[followed.run.run_id] = followed.status
                while len(self._finished) > _MAX_FINISHED:
                    del self._finished[next(iter(self._finished))]
            elif not followed.is_cancelled and pause_s > 0:
                self._schedule(followed, pause_s)
            elif not followed.is_cancelled:
                followed.ticket = next(self._order)
                self._backlog.append((followed.ticket, followed))
            self._condition.notify_all()

    def _ingest(self, followed: _FollowedRun) -> float:
        """Store new lines; returns the pause until the next poll."""
        was_ending = (
            followed.is_ending
        )  # read before ingesting: what was written before the end is stored
        start = time.monotonic()
        ingested = followed.service.ingest()
        if was_ending and not ingested:
            completed = followed.service.finish()
            followed.status = followed.service.status()
            self._on_commit(followed.run.run_id)
            if completed:
                followed.service.close()
                followed.completed.set_result(None)
            return _MAX_PAUSE_S
        followed.status = followed.service.status()
        if ingested:
            self._on_commit(followed.run.run_id)
            if ingested >= _LARGE_INGEST_BYTES or followed.service.has_more or was_ending:
                return 0.0
            cost_s = (time.monotonic() - start) * len(self._followed) * _IDLE_FACTOR
            followed.pause_s = min(max(_BUSY_PAUSE_S, cost_s), _MAX_PAUSE_S)
        else:
            followed.pause_s = min(followed.pause_s * 1.5, _IDLE_PAUSE_S)
            if followed.status.fault:
                followed.pause_s = _MAX_PAUSE_S
        return followed.pause_s
