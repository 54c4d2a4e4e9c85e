"""RunLogFeed: the log lines of one run, existing ones first, then new ones.

Three sources: the worker's output, its `log` events, and the daemon's log lines about the run.
Lines are read and parsed on a thread; `RunLogModel` drains them once per tick.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from PySide6.QtCore import QObject

from gym_gui.runtime.log_records import Severity, severity_of
from gym_gui.runtime.run_stream import RunStream
from gym_gui.runtime.stream_thread import Closable
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.results import EventLine
from mosaic.contract.events import Log

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = ["LogLine", "LogSource", "OutputLines", "RunLogFeed", "Severity"]

LogSource = Literal["output", "worker", "daemon"]

TAIL_LINES = 50_000
"""Number of existing lines to read: large logs are not read from the start."""
_MAX_BATCH = 1_000
"""Lines per tick; the rest waits in the log itself."""
_Raw = TypeVar("_Raw")

_MAX_CHARACTERS = 64_000
"""Per line; the log file has the complete line."""
# An escape character ends the sequence it is in: a search to the end of the line for each of them
# would block Python, and with it the UI thread, for minutes.
_TERMINAL_CODES = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]"
)
# Control characters except tab, newline and return; line separators; bidirectional marks.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
_TRACEBACK = "Traceback (most recent call last):"
_LEVEL = re.compile(
    r"(?:[\d:.,/\- T]{5,}\s*)?[\[(<]?(?P<level>debug|info|warn(?:ing)?|error|critical|fatal)\b",
    re.IGNORECASE,
)
_WARNING = re.compile(r"\S+:\d+: \w*Warning: ")
_EXCEPTION = re.compile(r"(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt)\b")
_DAEMON_PREFIX = re.compile(
    r"\d{4}-\d\d-\d\d (?P<time>\d\d:\d\d:\d\d),\d{3} (?P<level>[A-Z]+) +\S+: "
)


class LogLine(NamedTuple):
    """One line. `more` is text that belongs to it but does not fit in one line."""

    text: str
    severity: Severity
    more: str = ""


class RunLogFeed(RunStream[LogLine]):
    """Reads one source at a time, from the start or near the end."""

    def __init__(self, link: TrainerLink, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(link, ticker, "log of a run", _MAX_BATCH, parent)
        self._source: LogSource = "output"

    def show_source(self, run_id: str, source: LogSource) -> None:
        """An empty id stops reading."""
        self.close()
        self._source = source
        self.show(run_id)

    def read(self, client: "TrainerClient", run_id: str) -> Closable[LogLine]:
        if self._source == "worker":
            return _ParsedLines(client.events(run_id, kind="log", follow=True), _line_of_event)
        if self._source == "daemon":
            return _ParsedLines(
                client.logs(follow=True, tail_lines=TAIL_LINES), _DaemonLines(run_id)
            )
        return _ParsedLines(client.logs(run_id, follow=True, tail_lines=TAIL_LINES), OutputLines())


class _ParsedLines(Generic[_Raw]):
    """A stream of raw lines, parsed on the thread that reads them."""

    def __init__(self, stream: Closable[_Raw], parse: Callable[[_Raw], LogLine | None]) -> None:
        self._stream = stream
        self._parse = parse

    def __iter__(self) -> Iterator[LogLine]:
        for raw in self._stream:
            line = self._parse(raw)
            if line is not None:
                yield line

    def close(self) -> None:
        self._stream.close()


class OutputLines:
    """Parses the output of a worker. Remembers whether it is inside a traceback."""

    def __init__(self) -> None:
        self._in_traceback = False

    def __call__(self, raw: str) -> LogLine:
        plain = _TERMINAL_CODES.sub("", raw) if "\x1b" in raw else raw
        plain = plain.rstrip("\r")
        # A progress bar overwrites itself: a terminal shows only the last part.
        text = plain.rpartition("\r")[2]
        severity = self._severity(text)
        return LogLine(_clean(text).expandtabs(4), severity, _clean(plain) if text != plain else "")

    def _severity(self, text: str) -> Severity:
        if self._in_traceback:
            self._in_traceback = text.startswith((" ", "\t")) or not text
            return Severity.ERROR
        if text.startswith(_TRACEBACK):
            self._in_traceback = True
            return Severity.ERROR
        if _EXCEPTION.match(text):
            return Severity.ERROR
        if _WARNING.match(text):
            return Severity.WARNING
        level = _LEVEL.match(text)
        return severity_of(level["level"]) if level else Severity.INFO


def _line_of_event(raw: EventLine) -> LogLine | None:
    event = raw.decode()
    if not isinstance(event, Log):
        return None
    first, _, rest = event.message.partition("\n")
    fields = json.dumps(event.fields, ensure_ascii=False, default=str) if event.fields else ""
    columns = (event.level.upper().ljust(7), event.code, first, fields)
    text = _clean(" ".join(filter(None, columns)))
    return LogLine(text, severity_of(event.level), _clean(rest))


class _DaemonLines:
    """Lines that name the run, with their continuation lines."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._severity: Severity | None = None
        """Severity of the previous line if it was about this run."""

    def __call__(self, text: str) -> LogLine | None:
        prefix = _DAEMON_PREFIX.match(text)
        if prefix is not None:
            names_run = self._run_id in text
            self._severity = severity_of(prefix["level"]) if names_run else None
        return (
            None if self._severity is None else LogLine(_clean(text).expandtabs(4), self._severity)
        )


def _clean(text: str) -> str:
    """Remove invisible characters, and truncate a long line with a note of its length."""
    if not text.isprintable():
        text = _INVISIBLE.sub("", text)
    if len(text) <= _MAX_CHARACTERS:
        return text
    return f"{text[:_MAX_CHARACTERS]} … ({len(text):,} characters; the log file has them all)"
