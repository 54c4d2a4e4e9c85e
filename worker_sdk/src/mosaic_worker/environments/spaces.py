"""Spaces in JSON: what an environment line says of them, and actions that come as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.plain import finite_or_name

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST_LISTED = 64  # bounds of a larger box are given as one number, where they are one
PYTHON_VALUES = "python"
"""Actions were given as Python's own numbers and lists, not as arrays."""


def describe_space(space: Any) -> dict[str, Any]:
    """The space in plain values; `type` says what it is."""
    kind = type(space).__name__
    describe = _DESCRIBERS.get(kind)
    return {"type": "other", "name": kind} if describe is None else describe(space)


def to_action(space: Any, value: Any, dtype: str | None = None) -> Any:
    """What `step` accepts for a JSON value; WorkerError when it is no action of the space.

    `dtype` is the `action_dtype` of a recorded episode: what its actions were when they were no
    arrays of the space's own type. An environment computes differently with each.
    """
    convert = _CONVERTERS.get(type(space).__name__)
    if convert is None:
        return value
    try:
        return convert(space, value, dtype)
    except (TypeError, ValueError, OverflowError, KeyError, AttributeError) as error:
        raise _misfit(space, value) from error


def _misfit(space: Any, value: Any) -> WorkerError:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else f"{shown[:80]}…"
    return WorkerError(f"{shown} is no action of {space}.", remedy="Send one that fits.")


def _describe_box(space: Any) -> dict[str, Any]:
    return {
        "type": "box",
        "shape": list(space.shape),
        "low": _bounds(space.low),
        "high": _bounds(space.high),
        "dtype": str(space.dtype),
    }


def _bounds(values: Any) -> Any:
    """One number where all are the same; else as many as there are, or the outermost."""
    least, most = values.min(), values.max()
    if least == most:
        return finite_or_name(float(least)) if values.dtype.kind == "f" else int(least)
    if values.size <= _LARGEST_LISTED:
        return _finite(values.tolist())
    return [finite_or_name(float(least)), finite_or_name(float(most))]


def _finite(values: Any) -> Any:
    if isinstance(values, list):
        return [_finite(value) for value in values]
    return finite_or_name(values) if isinstance(values, float) else values


def _to_discrete(space: Any, value: Any, _dtype: str | None) -> int:
    number = _whole(value)
    if not space.start <= number < space.start + space.n:
        raise ValueError("out of range")
    return number


def _whole(value: Any) -> int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value.__index__())


def _to_box(space: Any, value: Any, dtype: str | None) -> Any:
    import numpy as np  # noqa: PLC0415 - optional, and start-up counts

    if space.dtype.kind != "f":
        return _to_whole_array(space, value, dtype)
    if dtype == PYTHON_VALUES:
        return _numbers(value)
    action = np.asarray(value, dtype=np.float64)  # reads "NaN" and "Infinity" too
    return action.reshape(space.shape).astype(dtype or space.dtype)


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float(value) if isinstance(value, str) else value


def _to_whole_array(space: Any, value: Any, _dtype: str | None) -> Any:
    import numpy as np  # noqa: PLC0415 - optional, and start-up counts

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
        raise ValueError("no such text")
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
    "MultiDiscrete": _to_whole_array,
    "MultiBinary": _to_whole_array,
    "Text": _to_text,
    "Tuple": _to_tuple,
    "Dict": _to_dict,
}
