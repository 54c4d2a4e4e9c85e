"""Reads a script's flags from its own `--help`, where its source does not show them.

Both layouts are understood: argparse's, and the boxes that tyro draws.
"""

from __future__ import annotations

import re

from cleanrl_worker.upstream.literal_values import UNKNOWN
from cleanrl_worker.upstream.script_flags import (
    ARGPARSE,
    PAIR,
    SWITCH,
    TYRO,
    WORD,
    ScriptFlag,
    ScriptFlags,
)
from cleanrl_worker.upstream.typed_parameter import typed_parameter

_FLAG = re.compile(
    r"^(?:-\w(?: [^\s,-]\S*)?, )?(?P<option>--[a-zA-Z][\w.-]*)"
    r"(?P<pair>, --(?:[\w.-]*\.)?no-[\w.-]+| ?\| ?--no-[\w.-]+)?"
    r"(?: (?P<value>\[?[{A-Z\[][^ ]*(?: \.\.\.\])?))?(?:\s+|$)(?P<words>.*)$"
)
_KINDS = {"INT": "int", "FLOAT": "float", "STR": "str"}
_BOX = "│"
_CHOICES = re.compile(r"\{([^{}]+)\}")
_BOOLEAN = {"True", "False"}


def read_help(text: str) -> ScriptFlags | None:
    """The flags that a help text lists, or None when it lists none."""
    is_tyro = _BOX in text
    flags: dict[str, ScriptFlag] = {}
    for line in text.splitlines():
        match = _FLAG.match(line.strip(f"{_BOX} \t"))
        if match:
            flag = _flag(match, is_tyro)
            if flag is not None:
                flags.setdefault(flag.parameter.name, flag)
    if not flags:
        return None
    return ScriptFlags(TYRO if is_tyro else ARGPARSE, tuple(flags.values()), "its --help")


def _flag(match: re.Match[str], is_tyro: bool) -> ScriptFlag | None:
    option = match["option"]
    name = option.lstrip("-").replace("-", "_")
    if name == "help" or not name.isidentifier():
        return None
    value = (match["value"] or "").replace("{None}|", "")
    words = match["words"].strip(f"{_BOX} ")
    if match["pair"]:
        return ScriptFlag(typed_parameter(name, "bool", UNKNOWN, words=words), option, PAIR)
    if not value:
        boolean = PAIR if is_tyro else SWITCH
        return ScriptFlag(typed_parameter(name, "bool", UNKNOWN, words=words), option, boolean)
    listed = _CHOICES.search(value)
    choices = tuple(listed[1].replace("|", ",").split(",")) if listed else ()
    if set(choices) == _BOOLEAN:
        return ScriptFlag(typed_parameter(name, "bool", UNKNOWN, words=words), option, WORD)
    kind = _KINDS.get(value, "str") if is_tyro else "str"
    return ScriptFlag(typed_parameter(name, kind, UNKNOWN, choices, words), option)
