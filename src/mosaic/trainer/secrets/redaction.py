"""Redacting secret values in text and byte streams: logs, outputs, reports, messages."""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

_MIN_LENGTH = 6
"""Shorter values would match parts of ordinary words."""
_plain = logging.Formatter()


class Redactor:
    """Replaces the values of secrets in text, in every spelling (JSON, repr, URL-encoded)."""

    def __init__(self, names_and_values: Iterable[tuple[str, str]]) -> None:
        names: dict[str, str] = {}
        for name, value in names_and_values:
            for form in _forms(value):
                if len(form) >= _MIN_LENGTH:
                    names.setdefault(form, name)
        self.spellings: Mapping[str, str] = MappingProxyType(names)
        """Every text that is replaced, mapped to the name of its secret."""
        # The longest first: a value may start with another one.
        forms = sorted(names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, forms))) if forms else None

    def redact(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: f"[secret {self.spellings[match[0]]}]", text)


def _forms(value: str) -> Iterator[str]:
    """The value and its parts, each also as JSON, `repr` and URLs spell it."""
    for part in (value, *_password(value), *(line.strip() for line in value.splitlines())):
        yield part
        yield json.dumps(part)[1:-1]
        yield json.dumps(part, ensure_ascii=False)[1:-1]
        yield repr(part)[1:-1]
        yield quote(part, safe="", errors="surrogateescape")
        yield quote(part, errors="surrogateescape")


def _password(value: str) -> Iterator[str]:
    """The password in a URL such as http://user:password@proxy:3128."""
    if "://" not in value:
        return
    try:
        password = urlsplit(value).password
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)


class RedactingFilter(logging.Filter):
    """For a log handler: redacts messages and tracebacks."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self._redact(_message(record))
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = _plain.formatException(record.exc_info)
        # The exception object still contains the text that was redacted in its formatted form.
        record.exc_info = None
        if record.exc_text:
            record.exc_text = self._redact(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redact(record.stack_info)
        return True


def _message(record: logging.LogRecord) -> str:
    arguments: Any = record.args
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # they do not match the message
        return f"{record.msg} {arguments!r}"


class Redacted(NamedTuple):
    """The redacted data, and how many of the given bytes it covers."""

    data: bytes
    end: int


class ByteRedactor:
    """Redacts a byte stream in parts; the start of a possible secret is left for the next part."""

    def __init__(self, spellings: Mapping[str, str]) -> None:
        """`spellings`: each text to replace, mapped to the name of its secret."""
        self._marks = {
            spelling.encode("utf-8", "surrogateescape"): f"[secret {name}]".encode()
            for spelling, name in spellings.items()
        }
        # The longest first: a value may start with another one.
        self._spellings = sorted(self._marks, key=len, reverse=True)
        pattern = b"|".join(map(re.escape, self._spellings))
        self._pattern = re.compile(pattern) if pattern else None

    @property
    def overlap(self) -> int:
        """How many bytes before an offset decide whether a secret spans it."""
        return len(self._spellings[0]) - 1 if self._spellings else 0

    def redact(self, data: bytes, start: int = 0, *, is_final: bool = False) -> Redacted:
        """`data` from `start` on, redacted; what precedes it is only inspected.

        Unless `is_final`, the start of a possible secret at the end is left out: `Redacted.end` is
        its offset, which is before `start` when a secret may start there.
        """
        if self._pattern is None:
            return Redacted(data[start:], len(data))
        end_of_safe = len(data) if is_final else len(data) - self._pending_length(data)
        parts: list[bytes] = []
        at = start
        for match in self._pattern.finditer(data):
            if match.start() >= end_of_safe:
                break
            if match.end() > start:
                parts += (data[at : max(at, match.start())], self._marks[match[0]])
                at = match.end()
        end = end_of_safe if at == start else max(at, end_of_safe)
        parts.append(data[at:end])
        return Redacted(b"".join(parts), end)

    def _pending_length(self, data: bytes) -> int:
        """The length of the longest suffix of `data` that is a prefix of a spelling."""
        longest = 0
        for spelling in self._spellings:
            length = min(len(spelling) - 1, len(data))
            while length > longest:
                # Only a prefix that ends like the data can match.
                length = spelling.rfind(data[-1:], 0, length) + 1
                if length > longest and data.endswith(spelling[:length]):
                    longest = length
                length -= 1
        return longest
