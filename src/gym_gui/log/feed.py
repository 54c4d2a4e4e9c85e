"""LogFeed: the daemon's log, the log of the run that is looked at, and the window's own, as one.

Each source is read on a thread of its own. `LogModel` takes what has come, once per tick.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

import mosaic
from gym_gui.runtime.log_records import (
    LogRecord,
    RunLogOrigin,
    code_meanings,
    daemon_records,
    event_record,
    window_record,
    worker_records,
)
from gym_gui.runtime.stream_thread import Closable, StreamThread
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.results import EventLine
from mosaic.contract.events import Log
from mosaic.contract.runs import RunRecord

_TAIL_LINES = 2_000
"""Of what was written before the window opened."""
_MOST_AT_ONCE = 1_000
"""Lines of one source in one tick; the rest waits, in the log itself."""
_HISTORY_SECONDS = 2.0
"""After which what comes in the log of a run is new."""
_MOST_OF_WINDOW = 5_000
_SHORT_ID_LETTERS = 8
_CODES_PAGE = Path(mosaic.__file__).parents[2] / "docs" / "log-codes.md"


class WindowLogHandler(logging.Handler):
    """Any thread may log; nobody ever waits for the window to look."""

    def __init__(self, wake: Callable[[], None]) -> None:
        super().__init__(logging.INFO)
        self._wake = wake
        self._records: deque[LogRecord] = deque(maxlen=_MOST_OF_WINDOW)
        self.overflow = 0
        """Lines that came when there was no room; the file has them."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.overflow += len(self._records) == _MOST_OF_WINDOW
            self._records.append(window_record(record))
        except (TypeError, ValueError, KeyError):  # arguments that do not fit the message
            self.handleError(record)
        else:
            self._wake()

    def drain(self) -> list[LogRecord]:
        taken = []
        while self._records:
            taken.append(self._records.popleft())
        return taken


class LogFeed(QObject):
    """Made once, by the wiring; for the UI thread. Closed before the link is."""

    def __init__(self, link: TrainerLink, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._ticker = ticker
        self.meanings: dict[str, str] = {}
        """Of the codes, in a sentence each; filled when the daemon's log is opened."""
        self._window = WindowLogHandler(ticker.wake)
        logging.getLogger().addHandler(self._window)
        self._daemon: StreamThread[str] | None = None
        self._run: RunRecord | None = None
        self._run_since = 0.0
        self._worker_lines: StreamThread[str] | None = None
        self._run_events: StreamThread[EventLine] | None = None
        self._threads: list[StreamThread[str] | StreamThread[EventLine]] = []
        link.connected.connect(self._begin)
        if link.has_client:
            self._begin()

    @property
    def logs_folder(self) -> Path:
        return self._link.home.logs

    @property
    def run_id(self) -> str:
        """The run whose log comes too; empty: none."""
        return "" if self._run is None else self._run.run_id

    def show_run(self, run: RunRecord | None) -> None:
        """From now on with the log of this run, from its beginning or near its end."""
        self._end_run()
        self._run = run
        if run is not None and self._link.has_client:
            self._begin_run(run)

    def take_overflow(self) -> int:
        """How many lines of the window came too fast since the last time."""
        count = self._window.overflow
        self._window.overflow -= count
        return count

    def drain(self) -> list[LogRecord]:
        """What has come since the last time, of all sources in order of time."""
        records = self._window.drain()
        if self._daemon is not None:
            records += daemon_records(self._daemon.drain())
        if self._run is not None:
            records += self._taken_of_run(self._run)
        records.sort(key=lambda record: record.at)
        return records

    @property
    def threads(self) -> list[threading.Thread]:
        """Those that are still alive, also of runs that are looked at no more."""
        return [each.thread for each in self._threads if each.thread.is_alive()]

    def close(self) -> None:
        """Does not wait."""
        logging.getLogger().removeHandler(self._window)
        self._end_run()
        if self._daemon is not None:
            self._daemon.close()

    def _begin(self) -> None:
        self._daemon = StreamThread(
            "daemon log", self._open_daemon_log, self._ticker.wake, _MOST_AT_ONCE
        )
        self._threads.append(self._daemon)
        if self._run is not None:
            self._begin_run(self._run)

    def _open_daemon_log(self) -> Closable[str]:
        """On the thread."""
        self.meanings = code_meanings(_CODES_PAGE)
        return self._link.client.logs(follow=True, tail_lines=_TAIL_LINES)

    def _begin_run(self, run: RunRecord) -> None:
        client, wake = self._link.client, self._ticker.wake
        self._run_since = time.time()
        self._worker_lines = StreamThread(
            "worker log",
            lambda: client.logs(run.run_id, follow=True, tail_lines=_TAIL_LINES),
            wake,
            _MOST_AT_ONCE,
        )
        self._run_events = StreamThread(
            "log events",
            lambda: client.events(run.run_id, kind="log", follow=True),
            wake,
            _MOST_AT_ONCE,
        )
        self._threads = [each for each in self._threads if each.thread.is_alive()]
        self._threads += [self._worker_lines, self._run_events]

    def _end_run(self) -> None:
        for stream in (self._worker_lines, self._run_events):
            if stream is not None:
                stream.close()
        self._worker_lines = self._run_events = None

    def _taken_of_run(self, run: RunRecord) -> list[LogRecord]:
        if self._worker_lines is None or self._run_events is None:
            return []
        now = time.time()
        # Workers tell no time. What an old run told belongs to its end, and what comes later than
        # the beginning of the stream was told when it came.
        origin = RunLogOrigin(
            component=f"{run.worker} {run.run_id[-_SHORT_ID_LETTERS:]}",
            run_id=run.run_id,
            at=run.ended_at or now,
            is_live=run.ended_at is None and now - self._run_since > _HISTORY_SECONDS,
        )
        records = worker_records(self._worker_lines.drain(), origin)
        for line in self._run_events.drain():
            event = line.decode()
            if isinstance(event, Log):
                records.append(event_record(event, origin))
        return records
