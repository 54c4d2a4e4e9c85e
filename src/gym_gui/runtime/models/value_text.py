"""Any JSON value in words, as tables of settings show it."""

import json
from typing import Any

from gym_gui.runtime.models.number_text import significant

_NONE = "-"
_LONGEST = 400


def in_words(value: Any) -> str:
    """Short enough for a cell."""
    match value:
        case None:
            return _NONE
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return significant(float(value))
        case str():
            return value[:_LONGEST]
    return in_full(value)[:_LONGEST]


def in_full(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
