"""NaN and infinities in JSON, which cannot represent them as numbers.

On the wire they are the strings in `NON_FINITE`; in memory they are floats.
"""

import math
import sys
from typing import TYPE_CHECKING, Any, Literal

NonFinite = Literal["NaN", "Infinity", "-Infinity"]
NON_FINITE: dict[str, float] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

if TYPE_CHECKING:
    Real = float  # the type after `restore`
else:
    Real = float | NonFinite  # the type that the decoder accepts

_MARKERS = (b'NaN"', b'Infinity"')


def may_hold_non_finite(line: bytes) -> bool:
    """Return False for lines that need no `restore`: a cheap test that skips nearly all."""
    return _MARKERS[0] in line or _MARKERS[1] in line


def as_float(value: float | str) -> float:
    """Convert a decoded `Real` to a float."""
    return NON_FINITE[value] if isinstance(value, str) else value


def restore(value: Any) -> Any:
    """Replace the strings of `NON_FINITE` by floats, at any depth."""
    if isinstance(value, str):
        return NON_FINITE.get(value, value)
    if isinstance(value, list):
        return [restore(item) for item in value]
    if isinstance(value, dict):
        return {key: restore(item) for key, item in value.items()}
    return value


def to_wire(value: Any) -> Any:
    """Replace every non-finite number by its string in `NON_FINITE`, at any depth."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, (float, int)) and abs(value) > sys.float_info.max:
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [to_wire(item) for item in value]
    if isinstance(value, dict):
        return {key: to_wire(item) for key, item in value.items()}
    return value
