"""LogFeed: the logs of the daemon, the selected run and the window, merged. RunLogFeed: one run.

Each source is read on its own thread. `LogModel` and `RunLogModel` drain the feeds once per tick.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from PySide6.QtCore import QObject

import mosaic
from gym_gui.runtime.log_records import (
    LogRecord,
    OutputParser,
    RunDaemonParser,
    RunLogOrigin,
    code_meanings,
    daemon_records,
    event_record,
    window_record,
    worker_records,
)
from gym_gui.runtime.run_stream import RunStream
from gym_gui.runtime.stream_thread import ClosableStream, StreamThread
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.results import EventLine
from mosaic.contract.events import Log
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

RunLogSource = Literal["output", "worker", "daemon"]
"""The output of the worker, its `log` events, or the daemon's log lines about the run."""
RUN_TAIL_LINES = 50_000
"""Number of existing lines to read of the log of one run."""
_TAIL_LINES = 2_000
"""Number of existing lines to read."""
_MAX_BATCH = 1_000
"""Lines of one source per tick; the rest waits in the log itself."""
_HISTORY_S = 2.0
"""Lines that arrive later than this after opening the log of a run are new."""
_MAX_WINDOW_LINES = 5_000
_SHORT_ID_LENGTH = 8
_Raw = TypeVar("_Raw")
_CODES_PAGE = Path(mosaic.__file__).parents[2] / "docs" / "log-codes.md"


class WindowLogHandler(logging.Handler):
    """Queues records of this process. Any thread may log, and logging never blocks."""

    def __init__(self, wake: Callable[[], None]) -> None:
        super().__init__(logging.INFO)
        self._wake = wake
        self._records: deque[LogRecord] = deque(maxlen=_MAX_WINDOW_LINES)
        self.overflow = 0
        """Number of records dropped from the full queue; the log file has them."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.overflow += len(self._records) == _MAX_WINDOW_LINES
            self._records.append(window_record(record))
        except (TypeError, ValueError, KeyError):  # arguments that do not fit the message
            self.handleError(record)
        else:
            self._wake()

    def drain(self) -> list[LogRecord]:
        records = []
        while self._records:
            records.append(self._records.popleft())
        return records


class LogFeed(QObject):
    """Created once, by `Models`; closed before the link. UI thread only."""

    def __init__(self, link: TrainerLink, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._ticker = ticker
        self.meanings: dict[str, str] = {}
        """Description of each code; filled when the log of the daemon is opened."""
        self._window = WindowLogHandler(ticker.wake)
        logging.getLogger().addHandler(self._window)
        self._daemon: StreamThread[str] | None = None
        self._run: RunRecord | None = None
        self._run_since = 0.0
        self._worker_lines: StreamThread[str] | None = None
        self._run_events: StreamThread[EventLine] | None = None
        self._threads: list[StreamThread[str] | StreamThread[EventLine]] = []
        link.connected.connect(self._start)
        if link.has_client:
            self._start()

    @property
    def logs_folder(self) -> Path:
        return self._link.home.logs

    @property
    def run_id(self) -> str:
        """The run whose log is included; empty: none."""
        return "" if self._run is None else self._run.run_id

    def show_run(self, run: RunRecord | None) -> None:
        """Include the log of this run instead of the previous one."""
        self._close_run()
        self._run = run
        if run is not None and self._link.has_client:
            self._start_run(run)

    def drain_overflow(self) -> int:
        """Return the number of dropped window lines since the last call."""
        count = self._window.overflow
        self._window.overflow -= count
        return count

    def drain(self) -> list[LogRecord]:
        """Return the records since the last call, of all sources, by time."""
        records = self._window.drain()
        if self._daemon is not None:
            records += daemon_records(self._daemon.drain())
        if self._run is not None:
            records += self._drain_run(self._run)
        records.sort(key=lambda record: record.at)
        return records

    @property
    def threads(self) -> list[threading.Thread]:
        """Threads that are still alive, including those of previous runs."""
        return [stream.thread for stream in self._threads if stream.thread.is_alive()]

    def close(self) -> None:
        """Close the streams without waiting for their threads."""
        logging.getLogger().removeHandler(self._window)
        self._close_run()
        if self._daemon is not None:
            self._daemon.close()

    def _start(self) -> None:
        self._daemon = StreamThread(
            "daemon log", self._open_daemon_log, self._ticker.wake, _MAX_BATCH
        )
        self._threads.append(self._daemon)
        if self._run is not None:
            self._start_run(self._run)

    def _open_daemon_log(self) -> ClosableStream[str]:
        """Called on the thread of the stream."""
        self.meanings = code_meanings(_CODES_PAGE)
        return self._link.client.logs(follow=True, tail_lines=_TAIL_LINES)

    def _start_run(self, run: RunRecord) -> None:
        client, wake = self._link.client, self._ticker.wake
        self._run_since = time.time()
        self._worker_lines = StreamThread(
            "worker log",
            lambda: client.logs(run.run_id, follow=True, tail_lines=_TAIL_LINES),
            wake,
            _MAX_BATCH,
        )
        self._run_events = StreamThread(
            "log events",
            lambda: client.events(run.run_id, kind="log", follow=True),
            wake,
            _MAX_BATCH,
        )
        self._threads = [stream for stream in self._threads if stream.thread.is_alive()]
        self._threads += [self._worker_lines, self._run_events]

    def _close_run(self) -> None:
        for stream in (self._worker_lines, self._run_events):
            if stream is not None:
                stream.close()
        self._worker_lines = self._run_events = None

    def _drain_run(self, run: RunRecord) -> list[LogRecord]:
        if self._worker_lines is None or self._run_events is None:
            return []
        now = time.time()
        # Worker lines have no timestamp: those of a finished run get the time of its end, and new
        # ones of a running run the time they arrive.
        origin = RunLogOrigin(
            component=f"{run.worker} {run.run_id[-_SHORT_ID_LENGTH:]}",
            run_id=run.run_id,
            at=run.ended_at or now,
            is_live=run.ended_at is None and now - self._run_since > _HISTORY_S,
        )
        records = worker_records(self._worker_lines.drain(), origin)
        for line in self._run_events.drain():
            event = line.decode()
            if isinstance(event, Log):
                records.append(event_record(event, origin))
        return records


class RunLogFeed(RunStream[LogRecord]):
    """The log of one run, one source at a time: existing lines first, then new ones."""

    def __init__(self, link: TrainerLink, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(link, ticker, "log of a run", _MAX_BATCH, parent)
        self.meanings: dict[str, str] = {}
        """Description of each code; filled when a log is opened."""
        self._source: RunLogSource = "output"

    def show_source(self, run_id: str, source: RunLogSource) -> None:
        """An empty id stops reading."""
        self.close()
        self._source = source
        self.follow(run_id)

    def drain_overflow(self) -> int:
        """The log is read at the rate of the window, so no line is dropped."""
        return 0

    def open_stream(self, client: "TrainerClient", run_id: str) -> ClosableStream[LogRecord]:
        if not self.meanings:
            self.meanings = code_meanings(_CODES_PAGE)
        if self._source == "worker":
            origin = RunLogOrigin(component="worker", run_id=run_id, at=0.0, is_live=False)

            def parse(line: EventLine) -> LogRecord | None:
                event = line.decode()
                return event_record(event, origin) if isinstance(event, Log) else None

            return _ParsedLines(client.events(run_id, kind="log", follow=True), parse)
        if self._source == "daemon":
            lines = client.logs(follow=True, tail_lines=RUN_TAIL_LINES)
            return _ParsedLines(lines, RunDaemonParser(run_id))
        lines = client.logs(run_id, follow=True, tail_lines=RUN_TAIL_LINES)
        return _ParsedLines(lines, OutputParser())


class _ParsedLines(Generic[_Raw]):
    """A stream of raw lines, parsed on the thread that reads them."""

    def __init__(
        self, stream: ClosableStream[_Raw], parse: Callable[[_Raw], LogRecord | None]
    ) -> None:
        self._stream = stream
        self._parse = parse

    def __iter__(self) -> Iterator[LogRecord]:
        for raw in self._stream:
            record = self._parse(raw)
            if record is not None:
                yield record

    def close(self) -> None:
        self._stream.close()
