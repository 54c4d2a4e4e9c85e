"""Printing: results on stdout as tables, fields or JSON; messages and progress on stderr."""

import os
import re
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
_READABLE_WIDTH = 8
"""A text column is not shortened below this width while other columns can be hidden."""
_MIN_TEXT_WIDTH = 20
_COMMAND = re.compile(r"`[^`]*`")
_JOINT = "\ue000"
"""Stands for a space that is not a line break; a character that texts do not contain."""
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
    hide: Sequence[str] = (),
) -> None:
    """Print a table on stdout, without empty columns.

    Columns in `right` are right-aligned. On a narrow terminal, columns in `cut` are shortened, and
    columns in `hide` are left out, the first ones first; a message names those.
    """
    print_hidden_columns(print_table_rows(columns, rows, right=right, cut=cut, hide=hide))


def print_table_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    right: Sequence[str] = (),
    cut: Sequence[str] = (),
    hide: Sequence[str] = (),
) -> tuple[str, ...]:
    """Like `print_table`, but return the hidden columns instead of printing their names."""
    cells = [[_to_text(value) for value in row] for row in rows]
    console = result_console()
    widths = {
        name: max(len(name), *(row[index].cell_len for row in cells))
        for index, name in enumerate(columns)
        if any(row[index] for row in cells)
    }
    hidden = _fit(widths, cut, hide, console.width)
    indices = [columns.index(name) for name in widths]
    lines = [[Text(name, "bold") for name in widths]]
    lines += [[row[index] for index in indices] for row in cells]
    for line in lines:
        for cell, (name, width) in zip(line, widths.items(), strict=True):
            cell.truncate(width, overflow="ellipsis")
            cell.align("right" if name in right else "left", width)
        text = Text(_GAP).join(line)
        text.rstrip()
        console.print(text, soft_wrap=True)
    return hidden


def print_hidden_columns(names: Iterable[str]) -> None:
    """Print which columns of a table the terminal is too narrow for."""
    listed = ", ".join(dict.fromkeys(names))
    if listed:
        print_message(f"Hidden columns: {listed}. Widen the terminal, or use --json.", style="dim")


def _fit(
    widths: dict[str, int], cut: Sequence[str], hide: Sequence[str], max_width: int
) -> tuple[str, ...]:
    """Reduce the widths until the table fits, as far as possible; return the hidden columns."""
    max_width -= len(_GAP) * (len(widths) - 1)
    hidden = []
    for name in hide:
        readable = {
            column: min(width, _READABLE_WIDTH) if column in cut else width
            for column, width in widths.items()
        }
        if sum(readable.values()) <= max_width:
            break
        if widths.pop(name, None) is not None:
            hidden.append(name)
            max_width += len(_GAP)
    while sum(widths.values()) > max_width:
        candidates = [name for name in cut if widths.get(name, 0) > _MIN_COLUMN_WIDTH]
        if not candidates:
            break
        widths[max(candidates, key=widths.__getitem__)] -= 1
    return tuple(hidden)


def print_wrapped(text: Text, *, header: Cell = "", stderr: bool = False) -> None:
    """Print the text beside its header, wrapped between words to the width of the terminal.

    A command in backticks is not broken, so that it can be copied.
    """
    console = message_console() if stderr else result_console()
    prefix = _to_text(header)
    joined = text.copy()
    joined.plain = _COMMAND.sub(lambda match: match[0].replace(" ", _JOINT), text.plain)
    for line in joined.wrap(console, max(_MIN_TEXT_WIDTH, console.width - prefix.cell_len)):
        line.plain = line.plain.replace(_JOINT, " ").rstrip()
        console.print(prefix + line, soft_wrap=True)
        prefix = Text(" " * prefix.cell_len)


def print_fields(fields: Iterable[tuple[str, Cell]]) -> None:
    """Print names and values on stdout, one per line, without empty values.

    On a terminal, text is wrapped between words. A path or another long word is not broken, so
    that it can be copied.
    """
    present = [(name, value) for name, value in fields if str(value)]
    width = max((len(name) for name, _ in present), default=0)
    console = result_console()
    for name, value in present:
        header, text = Text(name.ljust(width + 2), "bold"), _to_text(value)
        max_word_width = max(map(len, text.plain.split()), default=0)
        if console.is_terminal and header.cell_len + max_word_width <= console.width:
            print_wrapped(text, header=header)
        else:
            console.print(header, text, sep="", soft_wrap=True)


def print_message(text: str, *, style: str = "") -> None:
    """Print a message on stderr, wrapped on a terminal, without interpreting markup in it."""
    console = message_console()
    if console.is_terminal:
        print_wrapped(Text(text, style), stderr=True)
    else:
        console.print(text, style=style or None, soft_wrap=True)


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
