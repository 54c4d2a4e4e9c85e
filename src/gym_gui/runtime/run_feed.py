"""RunFeed: all runs once, and then what happens to them, for as long as the window is open.

A daemon that goes and comes back is waited for by the stream itself. When it no longer knows what
happened meanwhile, the runs are listed again. Owned by `RunsModel`.
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
_MAX_WAITING = 4000


@dataclass(frozen=True, slots=True)
class ListedRuns:
    """All runs there are, the archived ones too, and the event after which they may be watched."""

    runs: tuple[RunRecord, ...]
    last_event: int


class RunFeed(QObject):
    """Begins as soon as there is a daemon. All of it is for the UI thread."""

    listed = Signal(object)
    """A tuple of all `RunRecord`: instead of whatever was known before."""
    happened = Signal(object)
    """A list of `RunEvent`, in order; at most once per tick."""
    failed = Signal(object)
    """A `UserError`: the runs cannot be listed now; it is tried again when the daemon is back."""

    def __init__(
        self, link: TrainerLink, tasks: Tasks, ticker: UiTicker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._ticker = ticker
        self._stream: StreamThread[RunEvent] | None = None
        self._past: list[threading.Thread] = []
        self._is_listing = False
        self._is_closed = False
        link.connected.connect(self.list_again)
        link.recovered.connect(self._on_recovered)
        ticker.subscribe(self, self._on_tick)
        if link.has_client:
            self.list_again()

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return (*self._past, *((self._stream.thread,) if self._stream else ()))

    def list_again(self) -> None:
        """From the beginning; what is known stays until the answer is there."""
        if self._is_listing or self._is_closed or not self._link.has_client:
            return
        self._end_stream()
        self._is_listing = True
        client = self._link.client
        self._tasks.run(self, lambda: _all_runs(client), self._on_listed, self._on_failed)

    def close(self) -> None:
        """Does not wait for its thread."""
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
            _MAX_WAITING,
        )

    def _on_failed(self, error: UserError) -> None:
        self._is_listing = False
        self.failed.emit(error)

    def _on_recovered(self) -> None:
        """A live stream resumes by itself."""
        if self._stream is None or self._stream.is_finished:
            self.list_again()

    def _on_tick(self) -> bool:
        stream = self._stream
        if stream is None or self._is_closed:
            return False
        events = stream.drain()
        if any(isinstance(event.what, EventsForgotten) for event in events):
            self.list_again()
            return True
        if events:
            self.happened.emit(events)
        elif stream.is_finished:
            if stream.error is not None:
                _log.warning("C350 runs are no longer watched: %s", stream.error)
                self.failed.emit(stream.error)
            self._end_stream()
        return bool(events)

    def _end_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._past = [thread for thread in self._past if thread.is_alive()]
            self._past.append(self._stream.thread)
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
    # Watched from before the first page: what happened meanwhile is told twice, never missed.
    return ListedRuns(tuple(runs), first.last_event_seq)
