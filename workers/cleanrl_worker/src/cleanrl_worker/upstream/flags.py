"""A script's command-line flags: their parameters in a form, and their command-line syntax."""

from __future__ import annotations

import difflib
import json
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from cleanrl_worker.upstream.literal_values import UNKNOWN
from mosaic_worker import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable

TYRO = "tyro"
ARGPARSE = "argparse"

PAIR = "pair"
"""`--flag` and `--no-flag`, as in tyro."""
SWITCH = "switch"
"""`--flag` turns it on; there is no flag that turns it off."""
SWITCH_OFF = "switch_off"
"""`--flag` turns it off."""
VALUE = "value"
"""`--flag True`, as in CleanRL's argparse scripts."""


class ScriptFlag(NamedTuple):
    """One flag of a script. `parameter.name` is its name with underscores."""

    parameter: Parameter
    option: str
    boolean: str = PAIR
    is_list: bool = False
    """Whether it takes several values; its parameter is then one text."""

    def to_argv(self, value: Any) -> list[str]:
        """Return the flag with `value` as command-line arguments."""
        if self.parameter.type == "bool" and isinstance(value, bool):
            return _boolean_argv(self.option, value, self.boolean)
        if self.is_list and isinstance(value, str):
            return [self.option, *shlex.split(value)]
        return format_option(self.option, value, VALUE)


class ScriptFlags(NamedTuple):
    """All flags of one script, and the kind of parser that reads them."""

    style: str
    flags: tuple[ScriptFlag, ...] = ()
    source: str = ""
    """What they were read from, for messages."""

    def find(self, name: str) -> ScriptFlag | None:
        normalized = name.lstrip("-").replace("-", "_")
        return next((flag for flag in self.flags if flag.parameter.name == normalized), None)

    def suggest(self, name: str) -> str:
        """Return the flags that an unknown name may mean."""
        return suggest(name, (flag.parameter.name for flag in self.flags))

    def pass_through(self, name: str, value: Any) -> list[str]:
        """Return arguments for a flag that the script may have, although it could not be read."""
        known = self.find(name)
        if known is not None:
            return known.to_argv(value)
        option = name if name.startswith("-") else f"--{name.replace('_', '-')}"
        if isinstance(value, dict) and self.style == TYRO:
            return [
                argument
                for key, inner in value.items()
                for argument in self.pass_through(f"{option}.{key}", inner)
            ]
        return format_option(option, value, PAIR if self.style == TYRO else VALUE)


def make_parameter(
    name: str, kind: str, default: Any, choices: tuple[Any, ...] = (), help_text: str = ""
) -> Parameter:
    """Return a form's parameter; a default that is unknown or invalid is left to the script."""
    if isinstance(default, (list, tuple)):
        default = shlex.join(str(item) for item in default)
    known = None if default is UNKNOWN else default
    parameter = Parameter(
        name,
        "choice" if choices else kind,
        known,
        choices=choices,
        help=" ".join(help_text.split()),
    )
    try:
        parameter.check()
    except ValueError:
        return parameter._replace(default=None)
    return parameter


def format_option(option: str, value: Any, boolean: str) -> list[str]:
    if isinstance(value, bool):
        return _boolean_argv(option, value, boolean)
    if isinstance(value, (list, tuple)):
        return [option, *(_text(item) for item in value)]
    return [option, _text(value)]


def suggest(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return f"It has {', '.join(names)}." if names else "None of its flags could be read."


def _boolean_argv(option: str, value: bool, boolean: str) -> list[str]:
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
