"""Spaces as JSON: their description in the `environment` line, and actions from JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.json_values import encode_float

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_LISTED_BOUNDS = 64  # of a larger box only the lowest and the highest bound are listed
PYTHON_VALUES = "python"
"""The actions were Python numbers and lists, not arrays."""


def describe_space(space: Any) -> dict[str, Any]:
    """The space as JSON values; `type` names its kind."""
    kind = type(space).__name__
    describe = _DESCRIBERS.get(kind)
    return {"type": "other", "name": kind} if describe is None else describe(space)


def to_action(space: Any, value: Any, dtype: str | None = None) -> Any:
    """Convert a JSON value to an action of the space. Raises WorkerError if it does not fit.

    `dtype` is the `action_dtype` of a recorded episode: the type of its actions if they were not
    arrays of the space's dtype. An environment may compute different results for each type.
    """
    convert = _CONVERTERS.get(type(space).__name__)
    if convert is None:
        return value
    try:
        return convert(space, value, dtype)
    except (TypeError, ValueError, OverflowError, KeyError, AttributeError) as error:
        raise _invalid_action(space, value) from error


def _invalid_action(space: Any, value: Any) -> WorkerError:
    text = repr(value)
    text = text if len(text) <= 80 else f"{text[:80]}…"
    return WorkerError(f"{text} is not an action of {space}.", remedy="Send a valid action.")


def _describe_box(space: Any) -> dict[str, Any]:
    return {
        "type": "box",
        "shape": list(space.shape),
        "low": _bounds(space.low),
        "high": _bounds(space.high),
        "dtype": str(space.dtype),
    }


def _bounds(values: Any) -> Any:
    """One number if all bounds are equal; else all, or the lowest and highest of a large box."""
    low, high = values.min(), values.max()
    if low == high:
        return encode_float(float(low)) if values.dtype.kind == "f" else int(low)
    if values.size <= _MAX_LISTED_BOUNDS:
        return _encode_floats(values.tolist())
    return [encode_float(float(low)), encode_float(float(high))]


def _encode_floats(values: Any) -> Any:
    if isinstance(values, list):
        return [_encode_floats(value) for value in values]
    return encode_float(values) if isinstance(values, float) else values


def _to_discrete(space: Any, value: Any, _dtype: str | None) -> int:
    number = _to_integer(value)
    if not space.start <= number < space.start + space.n:
        raise ValueError("out of range")
    return number


def _to_integer(value: Any) -> int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value.__index__())


def _to_box(space: Any, value: Any, dtype: str | None) -> Any:
    import numpy as np  # noqa: PLC0415 - optional, and slow to import

    if space.dtype.kind != "f":
        return _to_integer_array(space, value, dtype)
    if dtype == PYTHON_VALUES:
        return _parse_numbers(value)
    action = np.asarray(value, dtype=np.float64)  # also parses "NaN" and "Infinity"
    return action.reshape(space.shape).astype(dtype or space.dtype)


def _parse_numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_parse_numbers(item) for item in value]
    return float(value) if isinstance(value, str) else value


def _to_integer_array(space: Any, value: Any, _dtype: str | None) -> Any:
    import numpy as np  # noqa: PLC0415 - optional, and slow to import

    exact = np.asarray(value)
    action = exact.astype(space.dtype)
    if not np.array_equal(action, exact) or not space.contains(action):
        raise ValueError("out of range")
    return action


def _to_tuple(space: Any, value: Any, dtype: str | None) -> tuple[Any, ...]:
    if len(value) != len(space.spaces):
        raise ValueError("wrong length")
    return tuple(to_action(part, item, dtype) for part, item in zip(space.spaces, value))


def _to_dict(space: Any, value: Any, dtype: str | None) -> dict[str, Any]:
    if set(value) != set(space.spaces):
        raise ValueError("wrong keys")
    return {name: to_action(part, value[name], dtype) for name, part in space.spaces.items()}


def _to_text(space: Any, value: Any, _dtype: str | None) -> str:
    if not space.contains(value):
        raise ValueError("invalid text")
    return str(value)


_DESCRIBERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "Discrete": lambda space: {
        "type": "discrete",
        "n": int(space.n),
        "start": int(getattr(space, "start", 0)),
    },
    "Box": _describe_box,
    "MultiDiscrete": lambda space: {"type": "multi_discrete", "nvec": space.nvec.tolist()},
    "MultiBinary": lambda space: {"type": "multi_binary", "shape": list(space.shape)},
    "Text": lambda space: {
        "type": "text",
        "min_length": int(space.min_length),
        "max_length": int(space.max_length),
    },
    "Tuple": lambda space: {
        "type": "tuple",
        "spaces": [describe_space(part) for part in space.spaces],
    },
    "Dict": lambda space: {
        "type": "dict",
        "spaces": {str(name): describe_space(part) for name, part in space.spaces.items()},
    },
}

_CONVERTERS: dict[str, Callable[[Any, Any, str | None], Any]] = {
    "Discrete": _to_discrete,
    "Box": _to_box,
    "MultiDiscrete": _to_integer_array,
    "MultiBinary": _to_integer_array,
    "Text": _to_text,
    "Tuple": _to_tuple,
    "Dict": _to_dict,
}
