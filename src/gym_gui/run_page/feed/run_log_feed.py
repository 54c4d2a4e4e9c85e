"""RunLogFeed: what one run has written, line by line as it stands there, and what follows.

Three sources: what the worker printed, what it said in `log` lines, and what the daemon said of the
run. Lines are read and judged on a thread; `RunLogModel` takes them once a beat.
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
"""Of what was written before: a log of gigabytes is not read from its beginning."""
_MOST_AT_ONCE = 1_000
"""Lines in one beat; the rest waits, in the log itself."""
_Given = TypeVar("_Given")

_MOST_CHARACTERS = 64_000
"""Of one line: who wants to see more of it opens the file."""
# An escape character ends what it stands in: a search to the end of the line for every one of them
# would keep Python, and with it the UI thread, for minutes.
_TERMINAL_CODES = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]"
)
# Control characters but tab, newline and return; line separators; marks that turn the direction.
_NOT_SHOWN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
_TRACEBACK = "Traceback (most recent call last):"
_LEVEL = re.compile(
    r"(?:[\d:.,/\- T]{5,}\s*)?[\[(<]?(?P<level>debug|info|warn(?:ing)?|error|critical|fatal)\b",
    re.IGNORECASE,
)
_WARNING = re.compile(r"\S+:\d+: \w*Warning: ")
_EXCEPTION = re.compile(r"(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt)\b")
_DAEMON_HEAD = re.compile(
    r"\d{4}-\d\d-\d\d (?P<time>\d\d:\d\d:\d\d),\d{3} (?P<level>[A-Z]+) +\S+: "
)


class LogLine(NamedTuple):
    """One line. `more` is what belongs to it and does not fit a line."""

    text: str
    severity: Severity
    more: str = ""


class RunLogFeed(RunStream[LogLine]):
    """Of one source at a time, from its beginning or near its end."""

    def __init__(self, link: TrainerLink, pulse: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(link, pulse, "log of a run", _MOST_AT_ONCE, parent)
        self._source: LogSource = "output"

    def show_source(self, run_id: str, source: LogSource) -> None:
        """An empty id ends it."""
        self.close()
        self._source = source
        self.show(run_id)

    def read(self, client: "TrainerClient", run_id: str) -> Closable[LogLine]:
        if self._source == "worker":
            return _Judged(client.events(run_id, kind="log", follow=True), _line_of_event)
        if self._source == "daemon":
            return _Judged(client.logs(follow=True, tail_lines=TAIL_LINES), _DaemonLines(run_id))
        return _Judged(client.logs(run_id, follow=True, tail_lines=TAIL_LINES), OutputLines())


class _Judged(Generic[_Given]):
    """A stream of lines as they come, turned into ours on the thread that reads them."""

    def __init__(self, stream: Closable[_Given], judge: Callable[[_Given], LogLine | None]) -> None:
        self._stream = stream
        self._judge = judge

    def __iter__(self) -> Iterator[LogLine]:
        for given in self._stream:
            line = self._judge(given)
            if line is not None:
                yield line

    def close(self) -> None:
        self._stream.close()


class OutputLines:
    """What a worker printed, line by line. Remembers whether it is inside of a traceback."""

    def __init__(self) -> None:
        self._in_traceback = False

    def __call__(self, raw: str) -> LogLine:
        plain = _TERMINAL_CODES.sub("", raw) if "\x1b" in raw else raw
        plain = plain.rstrip("\r")
        # A progress bar writes over itself: what is seen in a terminal is the last of it.
        text = plain.rpartition("\r")[2]
        severity = self._severity(text)
        return LogLine(_cut(text).expandtabs(4), severity, _cut(plain) if text != plain else "")

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


def _line_of_event(given: EventLine) -> LogLine | None:
    event = given.decode()
    if not isinstance(event, Log):
        return None
    first, _, rest = event.message.partition("\n")
    fields = json.dumps(event.fields, ensure_ascii=False, default=str) if event.fields else ""
    words = (event.level.upper().ljust(7), event.code, first, fields)
    text = _cut(" ".join(filter(None, words)))
    return LogLine(text, severity_of(event.level), _cut(rest))


class _DaemonLines:
    """Those that name the run, with the lines that belong to them."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._severity: Severity | None = None
        """Of the line before, when it was one of this run."""

    def __call__(self, text: str) -> LogLine | None:
        head = _DAEMON_HEAD.match(text)
        if head is not None:
            names_it = self._run_id in text
            self._severity = severity_of(head["level"]) if names_it else None
        return None if self._severity is None else LogLine(_cut(text).expandtabs(4), self._severity)


def _cut(text: str) -> str:
    """On one line, as it is written; of what is too long the beginning, and how long it is."""
    if not text.isprintable():
        text = _NOT_SHOWN.sub("", text)
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]} … ({len(text):,} characters; the log file has them all)"
