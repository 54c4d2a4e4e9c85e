"""LogRecord: one line of any log, and the parsing of log lines into records.

The feeds of the log room create them; its models and views show them.
"""

import json
import logging
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Literal

from mosaic.contract.events import Log

Source = Literal["daemon", "run", "window"]


class Severity(IntEnum):
    """The levels of Python's logging."""

    DEBUG = logging.DEBUG
    INFO = logging.INFO
    WARNING = logging.WARNING
    ERROR = logging.ERROR

    @property
    def label(self) -> str:
        return self.name.capitalize()


@dataclass(frozen=True, slots=True)
class LogRecord:
    """`message` is one line; `details` is the rest, such as a traceback."""

    at: float
    """Seconds since the epoch, when it was written or received."""
    has_time: bool
    """`at` is known exactly enough to be shown."""
    source: Source
    component: str
    severity: Severity
    code: str
    message: str
    run_id: str = ""
    details: str = ""
    logger: str = ""
    """The module that logged it, if known."""
    number: int = 0
    """Line number, if its source has no timestamps."""
    lowered: str = field(init=False, repr=False, compare=False)
    """All searchable text, in lower case."""

    def __post_init__(self) -> None:
        searched = (self.message, self.code, self.component, self.run_id, self.logger, self.details)
        object.__setattr__(self, "lowered", "\n".join(searched).lower())

    @property
    def time_text(self) -> str:
        """Time of day with milliseconds; empty if unknown."""
        if not self.has_time:
            return ""
        return f"{time.strftime('%H:%M:%S', time.localtime(self.at))}.{int(self.at % 1 * 1000):03d}"

    @property
    def date_text(self) -> str:
        return time.strftime("%Y-%m-%d", time.localtime(self.at)) if self.has_time else ""

    def as_raw_text(self) -> str:
        """The line as it was written, and the text that did not fit in it."""
        return f"{self.message}\n{self.details}" if self.details else self.message

    def as_text(self) -> str:
        """The complete record, for the clipboard and for reports."""
        when = f"{self.date_text} {self.time_text}".strip() or "(no time)"
        parts = [when, self.severity.name.ljust(7), self.component]
        if self.logger:
            parts.append(f"({self.logger})")
        if self.run_id:
            parts.append(f"run {self.run_id}")
        text = f"{self.code} {self.message}".strip()
        below = "".join(f"\n    {line}" for line in self.details.splitlines())
        return f"{' '.join(parts)}: {text}{below}"


_DAEMON_LINE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d),(?P<ms>\d{3}) "
    r"(?P<level>[A-Z]+) +(?P<logger>\S+): (?P<text>.*)",
    re.DOTALL,
)
_CODE = re.compile(r"(?P<code>(?:LOG|[A-Z])\d{3})\b[: ]*(?P<message>.*)", re.DOTALL)
_LEVELS: Mapping[str, Severity] = {
    "debug": Severity.DEBUG,
    "info": Severity.INFO,
    "warning": Severity.WARNING,
    "warn": Severity.WARNING,
    "error": Severity.ERROR,
    "critical": Severity.ERROR,
    "fatal": Severity.ERROR,
}
_LEVEL_PREFIX = re.compile(
    r"[\[(<]?(?P<level>debug|info|warn(?:ing)?|error|critical|fatal)(?:[\])>]|\s*:)", re.IGNORECASE
)
_PYTHON_WARNING = re.compile(r"\S+:\d+: \w*Warning: ")
_EXCEPTION = re.compile(r"(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt)\b")
_TRACEBACK = "Traceback (most recent call last):"
_OUTPUT_LEVEL = re.compile(
    r"(?:[\d:.,/\- T]{5,}\s*)?[\[(<]?(?P<level>debug|info|warn(?:ing)?|error|critical|fatal)\b",
    re.IGNORECASE,
)
"""A level at the start of an output line, possibly after a timestamp."""
_MAX_LINE_CHARACTERS = 64_000
"""The log file has the complete line."""
# An escape character ends the sequence it is in: a search to the end of the line for each of them
# would block Python, and with it the UI thread, for minutes.
_TERMINAL_CODES = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]"
)
# Control characters except tab, newline and return; line separators; bidirectional marks.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def severity_of(word: str) -> Severity:
    """Parse the name of a level, in any common spelling."""
    return _LEVELS.get(word.lower(), Severity.INFO)


def daemon_records(lines: Iterable[str]) -> list[LogRecord]:
    """Parse the daemon's log. Lines without a header belong to the record before them."""
    records: list[tuple[re.Match[str] | None, list[str]]] = []
    for line in lines:
        header = _DAEMON_LINE.fullmatch(line)
        if header is not None or not records:
            records.append((header, [] if header is not None else [line]))
        else:
            records[-1][1].append(line)
    return [
        _daemon_record(header, below) if header is not None else _record_without_header(below)
        for header, below in records
    ]


def _daemon_record(header: re.Match[str], below: list[str]) -> LogRecord:
    code, message = _split_code(header["text"])
    second = time.mktime(time.strptime(f"{header['day']} {header['time']}", "%Y-%m-%d %H:%M:%S"))
    return LogRecord(
        at=second + int(header["ms"]) / 1000,
        has_time=True,
        source="daemon",
        component="daemon",
        severity=severity_of(header["level"]),
        code=code,
        message=message,
        details="\n".join(below),
        logger=header["logger"],
    )


def _record_without_header(lines: list[str]) -> LogRecord:
    """The rest of a record whose first line was not read."""
    return LogRecord(
        at=time.time(),
        has_time=False,
        source="daemon",
        component="daemon",
        severity=Severity.INFO,
        code="",
        message=lines[0],
        details="\n".join(lines[1:]),
    )


@dataclass(frozen=True, slots=True)
class RunLogOrigin:
    """The run of lines, and when they were received."""

    component: str
    run_id: str
    at: float
    is_live: bool
    """They were just received; lines of an old run have no useful time."""


def worker_records(lines: Iterable[str], origin: RunLogOrigin) -> list[LogRecord]:
    """Parse the output of a worker. A traceback is one record, with its last line as message."""
    groups: list[list[str]] = []
    in_traceback = False
    for line in lines:
        if not line.strip():
            continue
        if in_traceback:
            groups[-1].append(line)
            in_traceback = line.startswith((" ", "\t"))
        else:
            groups.append([line])
            in_traceback = line.startswith(_TRACEBACK)
    return [_worker_record(group, origin) for group in groups]


def _worker_record(lines: list[str], origin: RunLogOrigin) -> LogRecord:
    is_traceback = len(lines) > 1
    code, message = _split_code(lines[-1] if is_traceback else lines[0])
    level = _LEVEL_PREFIX.match(message)
    severity = severity_of(level["level"]) if level else Severity.INFO
    if _PYTHON_WARNING.match(message):
        severity = Severity.WARNING
    if is_traceback or _EXCEPTION.match(message):
        severity = Severity.ERROR
    return LogRecord(
        at=origin.at,
        has_time=origin.is_live,
        source="run",
        component=origin.component,
        severity=severity,
        code=code,
        message=message,
        run_id=origin.run_id,
        details="\n".join(lines) if is_traceback else "",
    )


class OutputParser:
    """Parses the output of a worker, one record per line. Remembers whether it is in a traceback.

    The records have no time, but a line number.
    """

    def __init__(self) -> None:
        self._number = 0
        self._in_traceback = False

    def __call__(self, raw: str) -> LogRecord:
        self._number += 1
        plain = _TERMINAL_CODES.sub("", raw) if "\x1b" in raw else raw
        plain = plain.rstrip("\r")
        # A progress bar overwrites itself: a terminal shows only the last part.
        text = plain.rpartition("\r")[2]
        return LogRecord(
            at=0.0,
            has_time=False,
            source="run",
            component="",
            severity=self._severity(text),
            code="",
            message=_clean(text).expandtabs(4),
            details=_clean(plain) if text != plain else "",
            number=self._number,
        )

    def _severity(self, text: str) -> Severity:
        if self._in_traceback:
            self._in_traceback = text.startswith((" ", "\t")) or not text
            return Severity.ERROR
        if text.startswith(_TRACEBACK):
            self._in_traceback = True
            return Severity.ERROR
        if _EXCEPTION.match(text):
            return Severity.ERROR
        if _PYTHON_WARNING.match(text):
            return Severity.WARNING
        level = _OUTPUT_LEVEL.match(text)
        return severity_of(level["level"]) if level else Severity.INFO


class RunDaemonParser:
    """Parses the daemon log lines that name a run, with their continuation lines."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._last: LogRecord | None = None
        """The previous record with a prefix, if it is about this run."""

    def __call__(self, raw: str) -> LogRecord | None:
        if _DAEMON_LINE.fullmatch(raw) is not None:
            self._last = daemon_records([_clean(raw)])[0] if self._run_id in raw else None
            return self._last
        if self._last is None:
            return None
        return replace(self._last, has_time=False, code="", message=_clean(raw).expandtabs(4))


def _clean(text: str) -> str:
    """Remove invisible characters, and truncate a long line with a note of its length."""
    if not text.isprintable():
        text = _INVISIBLE.sub("", text)
    if len(text) <= _MAX_LINE_CHARACTERS:
        return text
    return f"{text[:_MAX_LINE_CHARACTERS]} … ({len(text):,} characters; the log file has them all)"


def event_record(event: Log, origin: RunLogOrigin) -> LogRecord:
    """Convert a `log` event of a worker."""
    fields = event.fields
    return LogRecord(
        at=origin.at,
        has_time=origin.is_live,
        source="run",
        component=origin.component,
        severity=severity_of(event.level),
        code=event.code,
        message=event.message,
        run_id=origin.run_id,
        details=json.dumps(fields, ensure_ascii=False, default=str, indent=2) if fields else "",
    )


def window_record(record: logging.LogRecord) -> LogRecord:
    """Convert a record of this process's logging."""
    code, message = _split_code(record.getMessage())
    first, _, rest = message.partition("\n")
    trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
    return LogRecord(
        at=record.created,
        has_time=True,
        source="window",
        component="window",
        severity=_nearest(record.levelno),
        code=code,
        message=first,
        details="\n".join(text for text in (rest, trace) if text),
        logger=record.name,
    )


def _nearest(level: int) -> Severity:
    if level >= Severity.WARNING:
        return Severity.ERROR if level >= Severity.ERROR else Severity.WARNING
    return Severity.INFO if level >= Severity.INFO else Severity.DEBUG


def _split_code(text: str) -> tuple[str, str]:
    match = _CODE.fullmatch(text)
    return (match["code"], match["message"]) if match else ("", text)


_MEANING = re.compile(r"\| `(?P<code>\w+)` \| (?P<text>.*?) \| `[^`|]*` \|")


def code_meanings(page: Path) -> dict[str, str]:
    """The meaning of each code, from docs/log-codes.md; empty if the file is missing."""
    try:
        text = page.read_text(encoding="utf-8")
    except OSError:
        return {}
    meanings: dict[str, str] = {}
    for match in _MEANING.finditer(text):
        meanings.setdefault(match["code"], match["text"])
    return meanings
