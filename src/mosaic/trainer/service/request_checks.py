"""What clients may send: every id, text and number of a request goes through here.

Called first thing in each call. Whatever is wrong is refused by the name of its field, before it
reaches SQLite, a path or a worker.
"""

import math
import re
from collections.abc import Iterable

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid

LARGEST_CURSOR = 1 << 62
"""Far beyond any line, and one more still fits what SQLite can hold."""
_LONGEST_SHOWN = 40

# Control characters, line separators, and the marks that turn the direction of writing.
_UNPRINTABLE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
)
_NOT_IN_TEXT = re.compile(f"[{_UNPRINTABLE}]")
_NOT_IN_A_LINE = re.compile(f"[{_UNPRINTABLE}\t\r\n]")


class BadRequestError(UserError):
    """A request holds something that cannot be meant (gRPC: INVALID_ARGUMENT)."""

    default_code = "T370"

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"`{field}` {problem}", remedy=remedy, code=self.default_code)


def checked_run_id(value: str, field: str = "run_id") -> str:
    """A run id, which can be part of a path without leading anywhere else."""
    if not is_ulid(value):
        raise BadRequestError(
            field,
            f"is not a run id: {shown(value)}.",
            "A run id is 26 letters and digits; `mosaic runs list` shows them.",
        )
    return value


def checked_line(field: str, value: str, most: int = 200) -> str:
    """One line of text of at most `most` characters; may be empty."""
    return _checked(field, value, most, _NOT_IN_A_LINE)


def checked_text(field: str, value: str, most: int) -> str:
    """Text that may have several lines, of at most `most` characters; may be empty."""
    return _checked(field, value, most, _NOT_IN_TEXT)


def checked_lines(
    field: str, values: Iterable[str], most: int, at_most: int = 100
) -> tuple[str, ...]:
    """At most `at_most` lines of text, none of them empty."""
    lines = tuple(values)
    if len(lines) > at_most:
        raise BadRequestError(field, f"has {len(lines)} entries.", f"Send at most {at_most}.")
    for line in lines:
        if not checked_line(field, line, most).strip():
            raise BadRequestError(field, "has an empty entry.", "Leave it out.")
    return lines


def checked_whole(field: str, value: int, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    if not least <= value <= most:
        raise BadRequestError(field, f"is {value}.", f"Send a number from {least} to {most}.")
    return value


def checked_number(field: str, value: float, least: float, most: float) -> float:
    """A finite number from `least` to `most`."""
    if not (math.isfinite(value) and least <= value <= most):
        raise BadRequestError(field, f"is {value}.", f"Send a number from {least:g} to {most:g}.")
    return value


def shown(value: str) -> str:
    """A client's text as part of a sentence: short, and free of what could spoil a terminal."""
    cut = value[:_LONGEST_SHOWN] + ("…" if len(value) > _LONGEST_SHOWN else "")
    return f"'{_NOT_IN_A_LINE.sub('?', cut)}'" if value else "it is empty"


def printable(text: str) -> str:
    """`text` without what could spoil a terminal; its lines stay."""
    return _NOT_IN_TEXT.sub("", text)


def _checked(field: str, value: str, most: int, forbidden: re.Pattern[str]) -> str:
    if len(value) > most:
        raise BadRequestError(
            field, f"has {len(value)} characters.", f"Shorten it to {most} or fewer."
        )
    if forbidden.search(value):
        raise BadRequestError(field, "holds control characters.", "Send printable characters only.")
    return value
