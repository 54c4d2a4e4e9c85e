"""Keeping secret values out of text: log records, outputs, reports and messages."""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

_LEAST_LETTERS = 6
"""Shorter values would be found inside ordinary words."""
_plain = logging.Formatter()


class Redactor:
    """Replaces every value of a set of secrets, in each form in which text may hold it."""

    def __init__(self, names_and_values: Iterable[tuple[str, str]]) -> None:
        names: dict[str, str] = {}
        for name, value in names_and_values:
            for form in _forms(value):
                if len(form) >= _LEAST_LETTERS:
                    names.setdefault(form, name)
        self.spellings: Mapping[str, str] = MappingProxyType(names)
        """Every text that is replaced, with the name of its secret."""
        # The longest first: a value may begin with another one.
        forms = sorted(names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, forms))) if forms else None

    def redact(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: f"[secret {self.spellings[match[0]]}]", text)


def _forms(value: str) -> Iterator[str]:
    """The value as it is, as JSON, `repr` and addresses write it, and its parts."""
    for part in (value, *_password(value), *(line.strip() for line in value.splitlines())):
        yield part
        yield json.dumps(part)[1:-1]
        yield json.dumps(part, ensure_ascii=False)[1:-1]
        yield repr(part)[1:-1]
        yield quote(part, safe="", errors="surrogateescape")
        yield quote(part, errors="surrogateescape")


def _password(value: str) -> Iterator[str]:
    """That of an address such as http://user:password@proxy:3128."""
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
    """For a log handler: no record passes with a secret in its message or its traceback."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self._redact(_message(record))
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = _plain.formatException(record.exc_info)
        # The exception itself holds the text that its formatted form no longer does.
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
    except (TypeError, ValueError, KeyError):  # they do not fit the message
        return f"{record.msg} {arguments!r}"


class Redacted(NamedTuple):
    """What may be shown, and how many of the bytes given it stands for."""

    data: bytes
    end: int


class ByteRedactor:
    """Replaces the spellings of secrets; what might yet become one of them is left for later."""

    def __init__(self, spellings: Mapping[str, str]) -> None:
        """`spellings`: each text that must not be seen, with the name of its secret."""
        self._marks = {
            spelling.encode("utf-8", "surrogateescape"): f"[secret {name}]".encode()
            for spelling, name in spellings.items()
        }
        # The longest first: a value may begin with another one.
        self._spellings = sorted(self._marks, key=len, reverse=True)
        pattern = b"|".join(map(re.escape, self._spellings))
        self._pattern = re.compile(pattern) if pattern else None

    @property
    def reach(self) -> int:
        """So many bytes before a place decide whether a secret lies across it."""
        return len(self._spellings[0]) - 1 if self._spellings else 0

    def redact(self, data: bytes, begin: int = 0, *, is_all: bool = False) -> Redacted:
        """`data` from `begin` on; what lies before it is looked at only.

        Unless that `is_all`, an end with which a secret may begin is left: `Redacted.end` is where
        it starts, which is before `begin` when a secret may begin there.
        """
        if self._pattern is None:
            return Redacted(data[begin:], len(data))
        settled = len(data) if is_all else len(data) - self._unsettled(data)
        shown: list[bytes] = []
        at = begin
        for found in self._pattern.finditer(data):
            if found.start() >= settled:
                break
            if found.end() > begin:
                shown += (data[at : max(at, found.start())], self._marks[found[0]])
                at = found.end()
        end = settled if at == begin else max(at, settled)
        shown.append(data[at:end])
        return Redacted(b"".join(shown), end)

    def _unsettled(self, data: bytes) -> int:
        """The length of the longest end of `data` that is the beginning of a spelling."""
        longest = 0
        for spelling in self._spellings:
            length = min(len(spelling) - 1, len(data))
            while length > longest:
                # Only a beginning that ends like the data comes into question.
                length = spelling.rfind(data[-1:], 0, length) + 1
                if length > longest and data.endswith(spelling[:length]):
                    longest = length
                length -= 1
        return longest
