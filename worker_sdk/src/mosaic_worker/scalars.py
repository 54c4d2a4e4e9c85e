"""Converts the typed fields of a line to values that the store accepts.

Each function returns a builtin value, or raises a `WorkerError` that names the field.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mosaic_worker.compat import make_getattr
from mosaic_worker.errors import WorkerError

MAX_NUMBER = int(sys.float_info.max)
MIN_NUMBER = -MAX_NUMBER
_MAX_ID_CHARS = 256
_MAX_INT64 = (1 << 63) - 1


def to_number(field: str, value: Any) -> int | float:
    """`value` as int or float; numpy scalars and arrays of one element are accepted.

    An integer outside the range of a float becomes an infinity.
    """
    if isinstance(value, (bool, int)):
        exact = int(value)
        if MIN_NUMBER <= exact <= MAX_NUMBER:
            return exact
        return math.inf if exact > 0 else -math.inf
    try:
        plain = value.item() if hasattr(value, "item") else value
        return to_number(field, plain) if isinstance(plain, int) else float(plain)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise WorkerError(
            f"'{field}' must be a single number, got {type(value).__qualname__}.",
            remedy=f"Pass {field} as int or float; for a vector emit one line per environment.",
        ) from error


def to_bool(field: str, value: Any) -> bool:
    """`value` as bool; numpy booleans are accepted."""
    if isinstance(value, (bool, int)):
        return bool(value)
    if hasattr(value, "item"):
        try:
            return bool(value.item())
        except (TypeError, ValueError, RuntimeError):
            pass
    raise WorkerError(
        f"'{field}' must be True or False, got {type(value).__qualname__}.",
        remedy=f"Pass {field} as a bool; for a vector emit one line per environment.",
    )


def to_int(field: str, value: Any) -> int:
    """`value` as int; numpy integers are accepted."""
    try:
        return int(value.__index__())
    except (AttributeError, TypeError) as error:
        raise WorkerError(
            f"'{field}' must be an integer, got {type(value).__qualname__}.",
            remedy=f"Pass {field} as int.",
        ) from error


def to_int64(field: str, value: Any) -> int:
    """`value` as an int that fits into 64 bits."""
    plain = to_int(field, value)
    if -_MAX_INT64 - 1 <= plain <= _MAX_INT64:
        return plain
    raise WorkerError(
        f"'{field}' must fit into 64 bits, got {_format_int(plain)}.",
        remedy=f"Pass {field} as a smaller int.",
    )


def to_count(field: str, value: Any) -> int:
    """`value` as an int from 0 to 2^63 - 1."""
    if value.__class__ is int and 0 <= value <= _MAX_INT64:
        return int(value)
    plain = to_int64(field, value)
    if plain >= 0:
        return plain
    raise WorkerError(f"'{field}' must be 0 or more, got {plain}.", remedy=f"Count {field} from 0.")


def to_episode_id(value: Any) -> str:
    """`value` as an episode id."""
    name: str = value if value.__class__ is str else str(value)
    if 0 < len(name) <= _MAX_ID_CHARS:
        return name
    raise WorkerError(
        f"'episode_id' must have 1 to {_MAX_ID_CHARS} characters, got {len(name)}.",
        remedy="Use the id that episode_start() returned, or a shorter one.",
    )


def to_column(field: str, values: Any) -> list[Any]:
    """`values` as a non-empty list; arrays are accepted."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(listed, Sequence) or isinstance(listed, (str, bytes)):
        problem = f"must be a list, got {type(values).__qualname__}"
    elif not listed:
        problem = "is empty"
    else:
        return list(listed)
    raise WorkerError(f"'{field}' {problem}.", remedy=f"Pass {field} with one entry per step.")


def _format_int(value: int) -> str:
    """Format an integer; Python cannot print integers of thousands of digits."""
    return str(value) if value.bit_length() < 128 else f"a number of {value.bit_length()} bits"


if not TYPE_CHECKING:
    __getattr__ = make_getattr(__name__)
