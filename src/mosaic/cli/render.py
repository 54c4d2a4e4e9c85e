"""Printing: results on stdout as tables, fields or JSON; messages and progress on stderr."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.text import Text

from mosaic.contract.numbers import to_wire

Cell = str | Text
_GAP = "  "
_MIN_COLUMN_WIDTH = 4
_WIDTH_WITHOUT_TERMINAL = 160
"""Width of a table that is written to a file or a pipe."""

_STATE_STYLES = {
    "running": "green",
    "succeeded": "green",
    "ready": "green",
    "ok": "green",
    "preparing": "cyan",
    "queued": "cyan",
    "installing": "cyan",
    "paused": "yellow",
    "stopping": "yellow",
    "cancelled": "yellow",
    "warning": "yellow",
    "outdated": "yellow",
    "failed": "red",
    "lost": "red",
    "blocking": "red",
    "broken": "red",
    "problem": "red",
}
"""Colours repeat what the word says, so they may be missing."""


def result_console() -> Console:
    """Return a console on stdout, for results."""
    return _console(stderr=False)


def message_console() -> Console:
    """Return a console on stderr, for messages and progress."""
    return _console(stderr=True)


def print_json(document: Any) -> None:
    """Print one document on stdout; NaN and infinities are spelled as the protocol does."""
    click.echo(msgspec.json.encode(to_wire(msgspec.to_builtins(document))))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    right: Sequence[str] = (),
    cut: Sequence[str] = (),
) -> None:
    """Print a table on stdout, without empty columns.

    Columns in `right` are right-aligned. Columns in `cut` are shortened on a narrow terminal.
    """
    cells = [[_to_text(value) for value in row] for row in rows]
    used = [index for index in range(len(columns)) if any(row[index] for row in cells)]
    names = [columns[index] for index in used]
    lines = [
        [Text(name, "bold") for name in names],
        *([row[index] for index in used] for row in cells),
    ]
    console = result_console()
    widths = [max(line[index].cell_len for line in lines) for index in range(len(used))]
    _shrink(widths, [name in cut for name in names], console.width)
    for line in lines:
        for name, cell, width in zip(names, line, widths, strict=True):
            cell.truncate(width, overflow="ellipsis")
            cell.align("right" if name in right else "left", width)
        text = Text(_GAP).join(line)
        text.rstrip()
        console.print(text, soft_wrap=True)


def _shrink(widths: list[int], may_shrink: Sequence[bool], max_width: int) -> None:
    """Shorten the widest columns that may shrink until the table fits or none can shrink more."""
    while sum(widths) + len(_GAP) * (len(widths) - 1) > max_width:
        width, index = max(
            (width if may else 0, index)
            for index, (width, may) in enumerate(zip(widths, may_shrink, strict=True))
        )
        if width <= _MIN_COLUMN_WIDTH:
            return
        widths[index] -= 1


def print_fields(fields: Iterable[tuple[str, Cell]]) -> None:
    """Print names and values on stdout, one per line, without empty values."""
    present = [(name, value) for name, value in fields if str(value)]
    width = max((len(name) for name, _ in present), default=0)
    console = result_console()
    for name, value in present:
        # Not wrapped, so that a path or a command can be copied.
        console.print(Text(name.ljust(width + 2), "bold"), _to_text(value), sep="", soft_wrap=True)


def print_message(text: str, *, style: str = "") -> None:
    """Print a message on stderr, without interpreting markup in it."""
    message_console().print(text, style=style or None, soft_wrap=True)


def state_text(word: str) -> Text:
    """Return a state in its colour."""
    return Text(word, _STATE_STYLES.get(word, ""))


def _to_text(value: Cell) -> Text:
    return value.copy() if isinstance(value, Text) else Text(value)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(
            stderr=stderr,
            markup=False,
            highlight=False,
            emoji=False,
            width=_WIDTH_WITHOUT_TERMINAL,
        )
    return console
