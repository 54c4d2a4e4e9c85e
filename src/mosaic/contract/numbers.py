"""NaN and the infinities in JSON, which has no word for them.

On the wire they are the strings in `NON_FINITE`; in memory they are floats again.
"""

import math
import sys
from typing import TYPE_CHECKING, Any, Literal

NonFinite = Literal["NaN", "Infinity", "-Infinity"]
NON_FINITE: dict[str, float] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

if TYPE_CHECKING:
    Real = float  # what a reader holds after `restore`
else:
    Real = float | NonFinite  # what the decoder accepts

_MARKERS = (b'NaN"', b'Infinity"')


def may_hold_non_finite(line: bytes) -> bool:
    """A cheap test that spares nearly every line the walk of `restore`."""
    return _MARKERS[0] in line or _MARKERS[1] in line


def as_float(value: float | str) -> float:
    """A decoded `Real` as the float it stands for."""
    return NON_FINITE[value] if isinstance(value, str) else value


def restore(value: Any) -> Any:
    """`value` with every non-finite word, at any depth, turned back into its float."""
    if isinstance(value, str):
        return NON_FINITE.get(value, value)
    if isinstance(value, list):
        return [restore(item) for item in value]
    if isinstance(value, dict):
        return {key: restore(item) for key, item in value.items()}
    return value


def to_wire(value: Any) -> Any:
    """`value` with every number that is no finite float, at any depth, turned into its word."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, (float, int)) and abs(value) > sys.float_info.max:
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [to_wire(item) for item in value]
    if isinstance(value, dict):
        return {key: to_wire(item) for key, item in value.items()}
    return value
