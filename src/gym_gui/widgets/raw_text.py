"""Observations and other values as text: indented and abbreviated, or complete as JSON.

Large arrays are abbreviated to their shape and first numbers.
"""

import json
from typing import Any

_MAX_NUMBERS = 64
_EDGE_ITEMS = 4
_INDENT = "  "
_MAX_TEXT = 2000
_TIMES = " \N{MULTIPLICATION SIGN} "


def format_readable(value: Any) -> str:
    """Indented text; long values are abbreviated."""
    return "\n".join(_lines(value, 0))


def format_json(value: Any) -> str:
    """The complete value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _lines(value: Any, depth: int) -> list[str]:
    indent = _INDENT * depth
    if isinstance(value, dict) and value:
        lines = []
        for name, item in value.items():
            nested = _lines(item, depth + 1)
            if len(nested) == 1:
                lines.append(f"{indent}{name}: {nested[0].strip()}")
            else:
                lines += [f"{indent}{name}:", *nested]
        return lines
    if isinstance(value, list | tuple):
        return _array_lines(value, depth)
    return [indent + _scalar(value)]


def _array_lines(value: list[Any] | tuple[Any, ...], depth: int) -> list[str]:
    indent = _INDENT * depth
    shape = _shape(value)
    if shape is None:
        lines = [line for item in value for line in _item_lines(item, depth)]
        return lines or [f"{indent}[]"]
    if len(shape) == 1:
        return [indent + _row(value)]
    size = 1
    for length in shape:
        size *= length
    header = f"{indent}array {_TIMES.join(map(str, shape))}"
    if size > _MAX_NUMBERS * 4 or len(shape) > 2:
        return [f"{header}, first numbers {_row(_flat(value, _EDGE_ITEMS * 2))[:-1]}, …]"]
    return [header, *(f"{indent}{_INDENT}{_row(row)}" for row in value)]


def _item_lines(item: Any, depth: int) -> list[str]:
    lines = _lines(item, depth + 1)
    indent = _INDENT * depth
    return [f"{indent}- {lines[0].strip()}", *lines[1:]]


def _row(values: Any) -> str:
    numbers = [_scalar(value) for value in values]
    if len(numbers) <= _MAX_NUMBERS:
        return f"[{', '.join(numbers)}]"
    first, last = numbers[:_EDGE_ITEMS], numbers[-_EDGE_ITEMS:]
    return f"[{', '.join(first)}, … , {', '.join(last)}] ({len(numbers)} numbers)"


def _scalar(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}… ({len(text)} characters)"


def _shape(value: Any) -> tuple[int, ...] | None:
    """The shape of nested lists of numbers; None for anything else."""
    if not isinstance(value, list | tuple):
        return () if isinstance(value, int | float | bool) or value is None else None
    if not value:
        return None
    shapes = {_shape(item) for item in value}
    if len(shapes) != 1:
        return None
    nested = shapes.pop()
    return None if nested is None else (len(value), *nested)


def _flat(value: Any, count: int) -> list[Any]:
    if not isinstance(value, list | tuple):
        return [value]
    items: list[Any] = []
    for item in value:
        items += _flat(item, count - len(items))
        if len(items) >= count:
            break
    return items[:count]
