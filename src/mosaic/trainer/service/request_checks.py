"""Validation of requests: ids, texts and numbers.

Every call validates its request first. An error names the field, before its value reaches SQLite,
a path or a worker.
"""

import math
import re
from collections.abc import Iterable

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid

MAX_CURSOR = 1 << 62
"""Larger than any line number, and one more still fits a SQLite integer."""
_MAX_QUOTED_LENGTH = 40

# Control characters, line separators, and marks that change the direction of writing.
_UNPRINTABLE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
)
_NOT_IN_TEXT = re.compile(f"[{_UNPRINTABLE}]")
_NOT_IN_A_LINE = re.compile(f"[{_UNPRINTABLE}\t\r\n]")


class BadRequestError(UserError):
    """A field of a request is invalid (gRPC: INVALID_ARGUMENT)."""

    default_code = "T370"

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"`{field}` {problem}", remedy=remedy, code=self.default_code)


def checked_run_id(value: str, field: str = "run_id") -> str:
    """A valid run id, which is safe as part of a path."""
    if not is_ulid(value):
        raise BadRequestError(
            field,
            f"is not a run id: {shown(value)}.",
            "A run id is 26 letters and digits; `mosaic runs list` shows them.",
        )
    return value


def checked_line(field: str, value: str, max_length: int = 200) -> str:
    """One line of text of at most `max_length` characters; may be empty."""
    return _checked(field, value, max_length, _NOT_IN_A_LINE)


def checked_text(field: str, value: str, max_length: int) -> str:
    """Text of any number of lines and at most `max_length` characters; may be empty."""
    return _checked(field, value, max_length, _NOT_IN_TEXT)


def checked_lines(
    field: str, values: Iterable[str], max_length: int, max_count: int = 100
) -> tuple[str, ...]:
    """At most `max_count` lines of text, none of them empty."""
    lines = tuple(values)
    if len(lines) > max_count:
        raise BadRequestError(field, f"has {len(lines)} entries.", f"Send at most {max_count}.")
    for line in lines:
        if not checked_line(field, line, max_length).strip():
            raise BadRequestError(field, "has an empty entry.", "Leave it out.")
    return lines


def checked_integer(field: str, value: int, minimum: int, maximum: int) -> int:
    """An integer from `minimum` to `maximum`."""
    if not minimum <= value <= maximum:
        raise BadRequestError(field, f"is {value}.", f"Send a number from {minimum} to {maximum}.")
    return value


def checked_number(field: str, value: float, minimum: float, maximum: float) -> float:
    """A finite number from `minimum` to `maximum`."""
    if not (math.isfinite(value) and minimum <= value <= maximum):
        raise BadRequestError(
            field, f"is {value}.", f"Send a number from {minimum:g} to {maximum:g}."
        )
    return value


def shown(value: str) -> str:
    """A client's text for a message: short, and without control characters."""
    cut = value[:_MAX_QUOTED_LENGTH] + ("…" if len(value) > _MAX_QUOTED_LENGTH else "")
    return f"'{_NOT_IN_A_LINE.sub('?', cut)}'" if value else "it is empty"


def printable(text: str) -> str:
    """`text` without control characters; line breaks stay."""
    return _NOT_IN_TEXT.sub("", text)


def _checked(field: str, value: str, max_length: int, forbidden: re.Pattern[str]) -> str:
    if len(value) > max_length:
        raise BadRequestError(
            field, f"has {len(value)} characters.", f"Shorten it to {max_length} or fewer."
        )
    if forbidden.search(value):
        raise BadRequestError(field, "holds control characters.", "Send printable characters only.")
    return value
