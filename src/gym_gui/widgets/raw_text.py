"""Values of any environment as text: indented for reading, whole for copying.

Large arrays are told by their shape and their first numbers, because nobody reads ten thousand.
"""

import json
from typing import Any

_MAX_NUMBERS = 64
_SHOWN_AT_ENDS = 4
_INDENT = "  "
_MAX_TEXT = 2000
_TIMES = " \N{MULTIPLICATION SIGN} "


def readable(value: Any) -> str:
    """Over several lines, abbreviated where it is long."""
    return "\n".join(_lines(value, 0))


def whole(value: Any) -> str:
    """All of it, as JSON that can be pasted anywhere."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _lines(value: Any, depth: int) -> list[str]:
    indent = _INDENT * depth
    if isinstance(value, dict) and value:
        lines = []
        for name, part in value.items():
            inside = _lines(part, depth + 1)
            if len(inside) == 1:
                lines.append(f"{indent}{name}: {inside[0].strip()}")
            else:
                lines += [f"{indent}{name}:", *inside]
        return lines
    if isinstance(value, list | tuple):
        return _array_lines(value, depth)
    return [indent + _scalar(value)]


def _array_lines(value: list[Any] | tuple[Any, ...], depth: int) -> list[str]:
    indent = _INDENT * depth
    shape = _shape(value)
    if shape is None:
        lines = [line for part in value for line in _item_lines(part, depth)]
        return lines or [f"{indent}[]"]
    if len(shape) == 1:
        return [indent + _row(value)]
    size = 1
    for length in shape:
        size *= length
    told = f"{indent}array {_TIMES.join(map(str, shape))}"
    if size > _MAX_NUMBERS * 4 or len(shape) > 2:
        return [f"{told}, first numbers {_row(_flat(value, _SHOWN_AT_ENDS * 2))[:-1]}, …]"]
    return [told, *(f"{indent}{_INDENT}{_row(row)}" for row in value)]


def _item_lines(part: Any, depth: int) -> list[str]:
    lines = _lines(part, depth + 1)
    indent = _INDENT * depth
    return [f"{indent}- {lines[0].strip()}", *lines[1:]]


def _row(values: Any) -> str:
    numbers = [_scalar(value) for value in values]
    if len(numbers) <= _MAX_NUMBERS:
        return f"[{', '.join(numbers)}]"
    first, last = numbers[:_SHOWN_AT_ENDS], numbers[-_SHOWN_AT_ENDS:]
    return f"[{', '.join(first)}, … , {', '.join(last)}] ({len(numbers)} numbers)"


def _scalar(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}… ({len(text)} letters)"


def _shape(value: Any) -> tuple[int, ...] | None:
    """Of nested lists of equal lengths that end in numbers; None for anything else."""
    if not isinstance(value, list | tuple):
        return () if isinstance(value, int | float | bool) or value is None else None
    if not value:
        return None
    shapes = {_shape(part) for part in value}
    if len(shapes) != 1:
        return None
    inside = shapes.pop()
    return None if inside is None else (len(value), *inside)


def _flat(value: Any, count: int) -> list[Any]:
    if not isinstance(value, list | tuple):
        return [value]
    found: list[Any] = []
    for part in value:
        found += _flat(part, count - len(found))
        if len(found) >= count:
            break
    return found[:count]
