"""Keeping secret values out of text: log records, outputs, reports and messages."""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any
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
