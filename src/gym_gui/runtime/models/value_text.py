"""Any JSON value in words, as tables of settings show it."""

import json
from typing import Any

from gym_gui.runtime.models.number_text import significant

_NONE = "-"
_MAX_CHARS = 400


def format_value(value: Any) -> str:
    """Short enough for a cell."""
    match value:
        case None:
            return _NONE
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return significant(float(value))
        case str():
            return value[:_MAX_CHARS]
    return format_full_value(value)[:_MAX_CHARS]


def format_full_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
