"""Reads the flags of an argparse script from the `add_argument` calls in its source."""

from __future__ import annotations

import ast

from cleanrl_worker.upstream.literal_values import UNKNOWN, literal_value
from cleanrl_worker.upstream.script_flags import (
    ARGPARSE,
    PAIR,
    SWITCH,
    SWITCH_OFF,
    WORD,
    ScriptFlag,
    ScriptFlags,
)
from cleanrl_worker.upstream.typed_parameter import typed_parameter

_SIMPLE = {"int": "int", "float": "float", "str": "str", "bool": "bool"}
_SWITCHES = {"store_true": SWITCH, "store_false": SWITCH_OFF}
_SEVERAL = ("*", "+")


def read_argparse_calls(tree: ast.Module) -> ScriptFlags | None:
    """The flags, or None when the script makes no such calls."""
    flags: dict[str, ScriptFlag] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_add_argument(node.func):
            flag = _flag(node)
            if flag is not None:
                flags.setdefault(flag.parameter.name, flag)
    if not flags:
        return None
    return ScriptFlags(ARGPARSE, tuple(flags.values()), "its add_argument calls")


def _is_add_argument(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "add_argument"


def _flag(call: ast.Call) -> ScriptFlag | None:
    options = [literal_value(argument) for argument in call.args]
    option = next((o for o in options if isinstance(o, str) and o.startswith("--")), None)
    if option is None:
        return None
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    name = option.lstrip("-").replace("-", "_")
    if not name.isidentifier():
        return None
    action = given.get("action")
    switch = _switch(action)
    choices = literal_value(given.get("choices"))
    words = literal_value(given.get("help"))
    several = literal_value(given.get("nargs"))
    is_list = several in _SEVERAL or isinstance(several, int)
    default = literal_value(given.get("default"))
    if switch and default is UNKNOWN:
        default = switch == SWITCH_OFF
    kind = "bool" if switch else "str" if is_list else _kind(given.get("type"))
    parameter = typed_parameter(
        name,
        kind,
        default,
        tuple(choices) if isinstance(choices, (list, tuple)) and not is_list else (),
        words if isinstance(words, str) else "",
    )
    return ScriptFlag(parameter, option, switch or WORD, is_list)


def _switch(action: ast.expr | None) -> str:
    if action is None:
        return ""
    if ast.unparse(action).endswith("BooleanOptionalAction"):
        return PAIR
    named = literal_value(action)
    return _SWITCHES.get(named, "") if isinstance(named, str) else ""


def _kind(converter: ast.expr | None) -> str:
    """What `type=` makes of a word. CleanRL's own switches are lambdas around `strtobool`."""
    if converter is None:
        return "str"
    source = ast.unparse(converter)
    if source in _SIMPLE:
        return _SIMPLE[source]
    return "bool" if "bool" in source.lower() else "str"
