"""The hyperparameter table that CleanRL's scripts put into their event files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def hyperparameter_table(values: Mapping[str, Any]) -> str:
    """In Markdown."""
    rows = [f"|{name}|{value}|" for name, value in values.items()]
    return "\n".join(["|param|value|", "|-|-|", *rows])
