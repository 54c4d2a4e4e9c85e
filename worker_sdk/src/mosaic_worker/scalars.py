"""The typed fields of a line: plain numbers and flags, or an error that names the field."""

from __future__ import annotations

from typing import Any

from mosaic_worker.errors import WorkerError


def number(field: str, value: Any) -> int | float:
    """`value` as a plain number (numpy scalars and arrays of one included), or a clear error."""
    if isinstance(value, (bool, int)):
        return int(value)
    try:
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, RuntimeError) as error:
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
