"""RunFeed: lists all runs, and then streams their events.

The stream reconnects to a restarted daemon. If the daemon no longer has the missed events, the runs
are listed again. Owned by `RunsModel`.
"""

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.stream_thread import StreamThread
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError
from mosaic.contract.run_events import EventsForgotten, RunEvent
from mosaic.contract.runs import RunQuery, RunRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_log = logging.getLogger(__name__)
_PER_PAGE = 1000
_MAX_BATCH = 4000


@dataclass(frozen=True, slots=True)
class ListedRuns:
    """All runs, including archived ones, and the number of the event to watch after."""

    runs: tuple[RunRecord, ...]
    last_event: int


class RunFeed(QObject):
    """Starts when the link has a client. UI thread only."""

    listed = Signal(object)
    """A tuple of all `RunRecord`, which replaces the previous ones."""
    events_received = Signal(object)
    """A list of `RunEvent`, in order; at most once per tick."""
    failed = Signal(object)
    """A `UserError`: the runs could not be listed; retried when the daemon is reachable again."""

    def __init__(
        self, link: TrainerLink, tasks: Tasks, ticker: UiTicker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._ticker = ticker
        self._stream: StreamThread[RunEvent] | None = None
        self._old_threads: list[threading.Thread] = []
        self._is_listing = False
        self._is_closed = False
        link.connected.connect(self.reload)
        link.recovered.connect(self._on_recovered)
        ticker.subscribe(self, self._on_tick)
        if link.has_client:
            self.reload()

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return (*self._old_threads, *((self._stream.thread,) if self._stream else ()))

    def reload(self) -> None:
        """List all runs again; the current ones stay until the answer arrives."""
        if self._is_listing or self._is_closed or not self._link.has_client:
            return
        self._end_stream()
        self._is_listing = True
        client = self._link.client
        self._tasks.run(self, lambda: _all_runs(client), self._on_listed, self._on_failed)

    def close(self) -> None:
        """Does not block."""
        self._is_closed = True
        self._end_stream()

    def _on_listed(self, listed: ListedRuns) -> None:
        self._is_listing = False
        if self._is_closed:
            return
        self.listed.emit(listed.runs)
        client = self._link.client
        self._stream = StreamThread(
            "runs watch",
            lambda: client.watch(after_seq=listed.last_event, digests=True),
            self._ticker.wake,
            _MAX_BATCH,
        )

    def _on_failed(self, error: UserError) -> None:
        self._is_listing = False
        self.failed.emit(error)

    def _on_recovered(self) -> None:
        """A stream that is not finished resumes on its own."""
        if self._stream is None or self._stream.is_finished:
            self.reload()

    def _on_tick(self) -> bool:
        stream = self._stream
        if stream is None or self._is_closed:
            return False
        events = stream.drain()
        if any(isinstance(event.what, EventsForgotten) for event in events):
            self.reload()
            return True
        if events:
            self.events_received.emit(events)
        elif stream.is_finished:
            if stream.error is not None:
                _log.warning("C350 runs are no longer watched: %s", stream.error)
                self.failed.emit(stream.error)
            self._end_stream()
        return bool(events)

    def _end_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._old_threads = [thread for thread in self._old_threads if thread.is_alive()]
            self._old_threads.append(self._stream.thread)
            self._stream = None


def _all_runs(client: "TrainerClient") -> ListedRuns:
    first = client.runs_page(RunQuery(include_archived=True, page_size=_PER_PAGE))
    runs, token = list(first.runs), first.next_page_token
    while token:
        page = client.runs_page(
            RunQuery(include_archived=True, page_size=_PER_PAGE, page_token=token)
        )
        runs += page.runs
        token = page.next_page_token
    # Watch from before the first page: an event may be received twice, but is never missed.
    return ListedRuns(tuple(runs), first.last_event_seq)
