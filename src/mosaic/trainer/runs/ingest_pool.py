"""Ingest of all live runs on a few threads.

Each run is one `TelemetryService`, in the hands of one thread at a time. How often a run is looked
at follows from what ingest costs: few runs are stored within 20 ms of being written, and many
share the threads fairly instead of wearing out a processor with tiny commits.
"""

import asyncio
import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.service import IngestStatus, TelemetryService

_log = logging.getLogger(__name__)

_THREADS = 2
_BUSY_PAUSE_S = 0.02
_IDLE_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 0.3
_SHARE = 6.0
"""A run rests for so many times what all runs' commits cost. Each commit writes the last chunk
again, so that fifty runs in small commits would keep the disk busy more than the processor."""
_MUCH_BYTES = 256 << 10
"""After so much the next look comes at once: there is more."""
_AFTER_A_BUG_S = 5.0


@dataclass(eq=False, slots=True)
class _Followed:
    run: RunDirectory
    service: TelemetryService
    pause_s: float = _BUSY_PAUSE_S
    ending: bool = False
    cancelled: bool = False
    in_hands: bool = False
    ticket: int = 0
    """Of its one valid place in the queue."""
    whole: "Future[None]" = field(default_factory=Future)
    status: IngestStatus | None = None


class IngestPool:
    """Follows runs' spools. `on_commit` is called on its threads after each commit."""

    def __init__(self, on_commit: Callable[[str], None], threads: int = _THREADS) -> None:
        self._on_commit = on_commit
        self._condition = threading.Condition()
        self._due: list[tuple[float, int, _Followed]] = []
        self._order = itertools.count()
        self._followed: dict[str, _Followed] = {}
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

    async def finish(self, run: RunDirectory, patience_s: float | None) -> bool:
        """Once its writers are gone: store all that is left. Whether that was done in time.

        When it was not, something is in the way (`status`); storing goes on in the background.
        """
        with self._condition:
            followed = self._entry(run)
            followed.ending = True
            if not followed.in_hands:
                self._schedule(followed, 0.0)
        done, _ = await asyncio.wait([asyncio.wrap_future(followed.whole)], timeout=patience_s)
        return bool(done)

    def forget(self, run_id: str) -> None:
        """Stop following, as before its files are deleted; returns when nothing is open."""
        with self._condition:
            followed = self._followed.pop(run_id, None)
            if followed is None:
                return
            followed.cancelled = True
            followed.whole.cancel()
            self._condition.wait_for(lambda: not followed.in_hands)
        followed.service.close()

    def status(self, run_id: str) -> IngestStatus | None:
        """As of the last look; None for a run that is not followed (any more)."""
        followed = self._followed.get(run_id)
        return followed.status if followed else None

    def close(self) -> None:
        """Let go of everything. What is not stored yet is still in the spools."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        for thread in self._threads:
            thread.join()
        for followed in self._followed.values():
            followed.service.close()

    def _entry(self, run: RunDirectory) -> _Followed:
        followed = self._followed.get(run.run_id)
        if followed is None:
            followed = self._followed[run.run_id] = _Followed(run, TelemetryService(run))
            self._schedule(followed, 0.0)
        return followed

    def _schedule(self, followed: _Followed, pause_s: float) -> None:
        """Its next turn; an earlier place in the queue is void from now on."""
        followed.ticket = next(self._order)
        heapq.heappush(self._due, (time.monotonic() + pause_s, followed.ticket, followed))
        self._condition.notify()

    def _work(self) -> None:
        while (followed := self._next()) is not None:
            try:
                pause_s = self._look(followed)
            except Exception:  # noqa: BLE001 - the edge of a thread: the other runs go on
                _log.exception("T302 ingest of %s failed by a bug", followed.run.run_id)
                pause_s = _AFTER_A_BUG_S
            self._put_back(followed, pause_s)

    def _next(self) -> _Followed | None:
        """The run that is due next, once it is; None when the pool closes."""
        with self._condition:
            while not self._closing:
                now = time.monotonic()
                if not self._due:
                    self._condition.wait()
                elif self._due[0][0] > now:
                    self._condition.wait(self._due[0][0] - now)
                else:
                    _, ticket, followed = heapq.heappop(self._due)
                    if ticket == followed.ticket and not (followed.cancelled or followed.in_hands):
                        followed.in_hands = True
                        return followed
        return None

    def _put_back(self, followed: _Followed, pause_s: float) -> None:
        with self._condition:
            followed.in_hands = False
            if followed.whole.done():
                self._followed.pop(followed.run.run_id, None)
            elif not followed.cancelled:
                self._schedule(followed, pause_s)
            self._condition.notify_all()

    def _look(self, followed: _Followed) -> float:
        """Store what has come; how long to wait until the next look."""
        was_ending = followed.ending  # asked before reading: what was written before is read
        began = time.monotonic()
        taken = followed.service.ingest()
        if was_ending and not taken:
            whole = followed.service.finish()
            followed.status = followed.service.status()
            self._on_commit(followed.run.run_id)
            if whole:
                followed.service.close()
                followed.whole.set_result(None)
            return _LONGEST_PAUSE_S
        followed.status = followed.service.status()
        if taken:
            self._on_commit(followed.run.run_id)
            if taken >= _MUCH_BYTES or was_ending:
                return 0.0
            cost_s = (time.monotonic() - began) * len(self._followed) * _SHARE
            followed.pause_s = min(max(_BUSY_PAUSE_S, cost_s), _LONGEST_PAUSE_S)
        else:
            followed.pause_s = min(followed.pause_s * 1.5, _IDLE_PAUSE_S)
            if followed.status.fault:
                followed.pause_s = _LONGEST_PAUSE_S
        return followed.pause_s
