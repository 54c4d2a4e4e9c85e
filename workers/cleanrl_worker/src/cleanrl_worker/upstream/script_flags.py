"""A script's command-line flags: what a form shows, and how a value is written for its parser."""

from __future__ import annotations

import difflib
import json
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mosaic_worker import Parameter

TYRO = "tyro"
ARGPARSE = "argparse"

PAIR = "pair"
"""`--flag` and `--no-flag`, as tyro has them."""
SWITCH = "switch"
"""`--flag` turns it on; there is nothing that turns it off."""
SWITCH_OFF = "switch_off"
"""`--flag` turns it off."""
WORD = "word"
"""`--flag True`, as CleanRL's argparse scripts have it."""


class ScriptFlag(NamedTuple):
    """One flag of a script. `parameter.name` is its name with underscores."""

    parameter: Parameter
    option: str
    boolean: str = PAIR
    is_list: bool = False
    """Whether it takes several values; its parameter is then their text."""

    def words(self, value: Any) -> list[str]:
        """The flag with `value`, as words of a command line."""
        if self.parameter.type == "bool" and isinstance(value, bool):
            return _boolean_words(self.option, value, self.boolean)
        if self.is_list and isinstance(value, str):
            return [self.option, *shlex.split(value)]
        return plain_words(self.option, value, WORD)


class ScriptFlags(NamedTuple):
    """All flags of one script, and the kind of parser that reads them."""

    style: str
    flags: tuple[ScriptFlag, ...] = ()
    source: str = ""
    """What they were read from, for people."""

    def find(self, name: str) -> ScriptFlag | None:
        wanted = name.lstrip("-").replace("-", "_")
        return next((flag for flag in self.flags if flag.parameter.name == wanted), None)

    def suggestion(self, name: str) -> str:
        """What a person may have meant by a name that the script does not have."""
        return suggestion(name, (flag.parameter.name for flag in self.flags))

    def passed_through(self, name: str, value: Any) -> list[str]:
        """Words for something that the script may know, though it could not be read."""
        known = self.find(name)
        if known is not None:
            return known.words(value)
        option = name if name.startswith("-") else f"--{name.replace('_', '-')}"
        if isinstance(value, dict) and self.style == TYRO:
            return [
                word
                for part, inner in value.items()
                for word in self.passed_through(f"{option}.{part}", inner)
            ]
        return plain_words(option, value, PAIR if self.style == TYRO else WORD)


def plain_words(option: str, value: Any, boolean: str) -> list[str]:
    if isinstance(value, bool):
        return _boolean_words(option, value, boolean)
    if isinstance(value, (list, tuple)):
        return [option, *(_text(each) for each in value)]
    return [option, _text(value)]


def suggestion(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return f"It has {', '.join(names)}." if names else "It has none that could be read."


def _boolean_words(option: str, value: bool, boolean: str) -> list[str]:
    if boolean == PAIR:
        dashes = option[: len(option) - len(option.lstrip("-"))]
        group, dot, last = option.lstrip("-").rpartition(".")
        return [option if value else f"{dashes}{group}{dot}no-{last}"]
    if boolean == SWITCH:
        return [option] if value else []
    if boolean == SWITCH_OFF:
        return [] if value else [option]
    return [option, str(value)]


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, dict) else str(value)
