"""The typed fields of a line: plain values that the store accepts, or an error naming the field."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from mosaic_worker.errors import WorkerError

LARGEST_NUMBER = int(sys.float_info.max)
LOWEST_NUMBER = -LARGEST_NUMBER
_MAX_NAME_LETTERS = 256
_LARGEST_WHOLE = (1 << 63) - 1


def number(field: str, value: Any) -> int | float:
    """`value` as a plain number (numpy scalars and arrays of one included), or a clear error.

    An integer that no float can hold is an infinity.
    """
    if isinstance(value, (bool, int)):
        exact = int(value)
        if LOWEST_NUMBER <= exact <= LARGEST_NUMBER:
            return exact
        return math.inf if exact > 0 else -math.inf
    try:
        plain = value.item() if hasattr(value, "item") else value
        return number(field, plain) if isinstance(plain, int) else float(plain)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise WorkerError(
            f"'{field}' must be one number, not {type(value).__qualname__}.",
            remedy=f"Give {field} as int or float; for a vector emit one line per environment.",
        ) from error


def flag(field: str, value: Any) -> bool:
    """`value` as a plain bool (numpy's included), or a clear error."""
    if isinstance(value, (bool, int)):
        return bool(value)
    if hasattr(value, "item"):
        try:
            return bool(value.item())
        except (TypeError, ValueError, RuntimeError):
            pass
    raise WorkerError(
        f"'{field}' must be True or False, not {type(value).__qualname__}.",
        remedy=f"Give {field} as a bool; for a vector emit one line per environment.",
    )


def whole(field: str, value: Any) -> int:
    """`value` as a plain int (numpy's included), or a clear error."""
    try:
        return int(value.__index__())
    except (AttributeError, TypeError) as error:
        raise WorkerError(
            f"'{field}' must be a whole number, not {type(value).__qualname__}.",
            remedy=f"Give {field} as int.",
        ) from error


def whole64(field: str, value: Any) -> int:
    """`value` as a plain int of 64 bits, or a clear error."""
    plain = whole(field, value)
    if -_LARGEST_WHOLE - 1 <= plain <= _LARGEST_WHOLE:
        return plain
    raise WorkerError(
        f"'{field}' must fit 64 bits, and {_shown(plain)} does not.",
        remedy=f"Give {field} as a smaller int.",
    )


def count(field: str, value: Any) -> int:
    """`value` as a plain int of 64 bits that is 0 or more, or a clear error."""
    if value.__class__ is int and 0 <= value <= _LARGEST_WHOLE:
        return int(value)
    plain = whole64(field, value)
    if plain >= 0:
        return plain
    raise WorkerError(f"'{field}' must be 0 or more, not {plain}.", remedy=f"Count {field} from 0.")


def episode_name(value: Any) -> str:
    """`value` as an episode's id, or a clear error."""
    name: str = value if value.__class__ is str else str(value)
    if 0 < len(name) <= _MAX_NAME_LETTERS:
        return name
    raise WorkerError(
        f"'episode_id' must have 1 to {_MAX_NAME_LETTERS} characters, not {len(name)}.",
        remedy="Use the id that episode_start() returned, or give a shorter one.",
    )


def column(field: str, values: Any) -> list[Any]:
    """`values` as a list with something in it (arrays included), or a clear error."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(listed, Sequence) or isinstance(listed, (str, bytes)):
        problem = f"must be a list, not {type(values).__qualname__}"
    elif not listed:
        problem = "is empty"
    else:
        return list(listed)
    raise WorkerError(f"'{field}' {problem}.", remedy=f"Give {field} with one entry per step.")


def _shown(value: int) -> str:
    """A number of thousands of digits cannot be printed, and would help nobody."""
    return str(value) if value.bit_length() < 128 else f"a number of {value.bit_length()} bits"
