"""Whole numbers and lists out of values that a worker wrote and nobody has checked."""

from typing import Any


def whole_number(value: Any, below: int, *, least: int = 0) -> int | None:
    """`value` when it is a whole number from `least` up to, not including, `below`."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if least <= value < below else None


def whole_numbers(value: Any, below: int, *, least: int = 0) -> tuple[int, ...] | None:
    """`value` when it is a list of nothing but such whole numbers."""
    if not isinstance(value, list | tuple):
        return None
    numbers = [whole_number(item, below, least=least) for item in value]
    return None if None in numbers else tuple(number for number in numbers if number is not None)
