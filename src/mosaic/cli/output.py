"""What commands print: results on stdout as tables or JSON, everything else on stderr."""

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
_NARROWEST = 4
_WIDTH_WITHOUT_A_TERMINAL = 160
"""Of a table that goes into a file or another program."""

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
"""Colour only underlines the word, which always stands there too."""


def result_console() -> Console:
    """Stdout, for what was asked for."""
    return _console(stderr=False)


def message_console() -> Console:
    """Stderr, for progress and messages."""
    return _console(stderr=True)


def print_json(document: Any) -> None:
    """One document on stdout. What JSON has no word for is written as the protocol does."""
    click.echo(msgspec.json.encode(to_wire(msgspec.to_builtins(document))))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    right: Sequence[str] = (),
    cut: Sequence[str] = (),
) -> None:
    """A table on stdout; columns in which nothing stands are left out.

    Numbers stand on the `right`; the columns to `cut` give way where the terminal is narrow.
    """
    filled = [[_cell(value) for value in row] for row in rows]
    shown = [at for at in range(len(columns)) if any(row[at] for row in filled)]
    names = [columns[at] for at in shown]
    lines = [[Text(name, "bold") for name in names], *([row[at] for at in shown] for row in filled)]
    console = result_console()
    widths = [max(line[at].cell_len for line in lines) for at in range(len(shown))]
    _shrink(widths, [name in cut for name in names], console.width)
    for line in lines:
        for name, cell, width in zip(names, line, widths, strict=True):
            cell.truncate(width, overflow="ellipsis")
            cell.align("right" if name in right else "left", width)
        whole = Text(_GAP).join(line)
        whole.rstrip()
        console.print(whole, soft_wrap=True)


def _shrink(widths: list[int], may_shrink: Sequence[bool], room: int) -> None:
    """Takes from the widest that may give, until all fit or none has any left to give."""
    while sum(widths) + len(_GAP) * (len(widths) - 1) > room:
        width, at = max(
            (width if may else 0, at)
            for at, (width, may) in enumerate(zip(widths, may_shrink, strict=True))
        )
        if width <= _NARROWEST:
            return
        widths[at] -= 1


def print_fields(fields: Iterable[tuple[str, Cell]]) -> None:
    """Names and values, one a line, on stdout; what is empty is left out."""
    filled = [(name, value) for name, value in fields if str(value)]
    width = max((len(name) for name, _ in filled), default=0)
    console = result_console()
    for name, value in filled:
        # Not wrapped: a path or a command stays one line for whoever copies it.
        console.print(Text(name.ljust(width + 2), "bold"), _cell(value), sep="", soft_wrap=True)


def say(text: str, *, style: str = "") -> None:
    """A message on stderr, whatever characters are in it."""
    message_console().print(text, style=style or None, soft_wrap=True)


def state_text(word: str) -> Text:
    """A state, in its colour where there are colours."""
    return Text(word, _STATE_STYLES.get(word, ""))


def _cell(value: Cell) -> Text:
    return value.copy() if isinstance(value, Text) else Text(value)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(
            stderr=stderr,
            markup=False,
            highlight=False,
            emoji=False,
            width=_WIDTH_WITHOUT_A_TERMINAL,
        )
    return console
