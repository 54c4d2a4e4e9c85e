"""Numbers, rates, times and JSON values as text, as the window shows them.

`mosaic.contract.formatting` has what the command line uses, too: sizes, durations and counts.
"""

import json
import math
from datetime import datetime
from typing import Any

from mosaic.contract.formatting import format_amount

_MINUS = "\N{MINUS SIGN}"
_MIN_SIGNIFICANT, _MAX_SIGNIFICANT = 1e-4, 1e6
_MIN_DECIMAL, _MAX_DECIMAL = 0.005, 1e7
"""Numbers outside of these ranges have an exponent."""
_NO_VALUE = "-"
_MAX_CHARS = 400


def format_fixed(value: float, digits: int = 1) -> str:
    """`-1,234.5`, with a minus sign instead of a hyphen."""
    return f"{value:,.{digits}f}".replace("-", _MINUS)


def format_rounded(value: float, digits: int = 2) -> str:
    """Like `format_fixed`, without trailing zeros."""
    text = format_fixed(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_signed(value: float) -> str:
    """`+1.84`, `-0.3`: for rewards and differences."""
    text = format_significant(value)
    return f"+{text}" if value > 0 else text


def format_significant(value: float) -> str:
    """Four significant digits; integers in full."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return f"{_MINUS if value < 0 else ''}infinity"
    if value == int(value) and abs(value) < _MAX_SIGNIFICANT:
        return f"{int(value):,}".replace("-", _MINUS)
    if _MIN_SIGNIFICANT <= abs(value) < _MAX_SIGNIFICANT:
        digits = max(0, 3 - math.floor(math.log10(abs(value))))
        return format_fixed(value, min(digits, 6)).rstrip("0").rstrip(".")
    return f"{value:.3g}".replace("-", _MINUS)


def format_decimal(value: float | None) -> str:
    """A return or a reward with two decimals, so that columns align.

    A small number has one significant digit instead of `0.00`.
    """
    if value is None:
        return ""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("∞" if value > 0 else f"{_MINUS}∞")
    if value != 0 and abs(value) < _MIN_DECIMAL:
        text = f"{value:.1g}"
    else:
        text = f"{value:,.2f}" if abs(value) < _MAX_DECIMAL else f"{value:.2g}"
    return text.replace("-", _MINUS)


def format_integer(value: int) -> str:
    return f"{value:,}"


def format_rate(per_second: float | None) -> str:
    """`812 /s`, `3.1 k/s`."""
    if per_second is None or not math.isfinite(per_second):
        return ""
    return f"{format_amount(per_second)}/s"


def format_timestamp(t: float) -> str:
    """`14:05` today, `12 Nov 14:05` this year, `2025-11-12` before."""
    then, now = datetime.fromtimestamp(t), datetime.now()  # noqa: DTZ005, DTZ006 - local time
    if then.date() == now.date():
        return f"{then:%H:%M}"
    return f"{then.day} {then:%b %H:%M}" if then.year == now.year else f"{then:%Y-%m-%d}"


def format_value(value: Any) -> str:
    """A JSON value, short enough for a cell."""
    match value:
        case None:
            return _NO_VALUE
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return format_significant(float(value))
        case str():
            return value[:_MAX_CHARS]
    return format_full_value(value)[:_MAX_CHARS]


def format_full_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def one_line(text: str) -> str:
    """Replace each sequence of white space by one space."""
    return " ".join(text.split())


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()


def sentence(text: str) -> str:
    """In one line, with a full stop."""
    line = one_line(text)
    return f"{line}." if line and line[-1] not in ".!?…" else line
