"""Finds the flags of a script: in its source code, or in the output of its `--help`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cleanrl_worker.upstream.args_dataclass import read_args_dataclass
from cleanrl_worker.upstream.flags import (
    ARGPARSE,
    PAIR,
    SWITCH,
    SWITCH_OFF,
    TYRO,
    VALUE,
    ScriptFlag,
    ScriptFlags,
    make_parameter,
)
from cleanrl_worker.upstream.literal_values import UNKNOWN, literal_value
from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.upstream.script_location import ScriptLocation

_HELP_TIMEOUT_S = 60.0
_PARSER_HINTS = ("argparse", "tyro", "click", "hydra", "fire", "sys.argv", "parse", "cli")
_NO_FLAGS = ScriptFlags(TYRO, (), "")

_CONVERTERS = {"int": "int", "float": "float", "str": "str", "bool": "bool"}
_SWITCHES = {"store_true": SWITCH, "store_false": SWITCH_OFF}
_LIST_NARGS = ("*", "+")

_HELP_FLAG = re.compile(
    r"^(?:-\w(?: [^\s,-]\S*)?, )?(?P<option>--[a-zA-Z][\w.-]*)"
    r"(?P<pair>, --(?:[\w.-]*\.)?no-[\w.-]+| ?\| ?--no-[\w.-]+)?"
    r"(?: (?P<value>\[?[{A-Z\[][^ ]*(?: \.\.\.\])?))?(?:\s+|$)(?P<text>.*)$"
)
_METAVARS = {"INT": "int", "FLOAT": "float", "STR": "str"}
_BOX = "│"
_CHOICES = re.compile(r"\{([^{}]+)\}")
_BOOLEAN = {"True", "False"}


def parse_source(location: ScriptLocation) -> ast.Module:
    """Raises `WorkerError` if the file is not valid Python."""
    try:
        return ast.parse(location.path.read_text(encoding="utf-8"), filename=str(location.path))
    except (OSError, ValueError, SyntaxError) as error:
        raise WorkerError(
            f"{location.path} cannot be read as Python: {error}.", remedy="Correct the script."
        ) from error


def read_source_flags(location: ScriptLocation) -> ScriptFlags | None:
    """Read the flags from the source code without running it; None if it defines none."""
    tree = parse_source(location)
    folders = [location.path.parent, location.root, *(Path(entry) for entry in sys.path if entry)]
    by_class = read_args_dataclass(tree, folders)
    calls_tyro = any(
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith("tyro.cli")
        for node in ast.walk(tree)
    )
    if by_class is not None and calls_tyro:
        return by_class
    return read_argparse_calls(tree) or by_class


def read_flags(location: ScriptLocation, environment: Mapping[str, str]) -> ScriptFlags:
    """Read the flags from the source code, or else from the output of `--help`."""
    from_source = read_source_flags(location)
    if from_source is not None:
        return from_source
    source = location.path.read_text(encoding="utf-8")
    if not any(hint in source for hint in _PARSER_HINTS):
        return _NO_FLAGS  # it would ignore --help and start to train
    with tempfile.TemporaryDirectory() as working_directory:  # the script may write files
        try:
            result = subprocess.run(
                [sys.executable, str(location.path), "--help"],
                env={**environment, "COLUMNS": "200"},
                cwd=working_directory,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_HELP_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return _NO_FLAGS
    if result.returncode:
        return _NO_FLAGS
    return read_help(result.stdout.decode("utf-8", "replace")) or _NO_FLAGS


def read_argparse_calls(tree: ast.Module) -> ScriptFlags | None:
    """Return the flags of `add_argument` calls, or None if there are none."""
    flags: dict[str, ScriptFlag] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_add_argument(node.func):
            flag = _flag_of_call(node)
            if flag is not None:
                flags.setdefault(flag.parameter.name, flag)
    if not flags:
        return None
    return ScriptFlags(ARGPARSE, tuple(flags.values()), "its add_argument calls")


def _is_add_argument(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "add_argument"


def _flag_of_call(call: ast.Call) -> ScriptFlag | None:
    options = [literal_value(argument) for argument in call.args]
    option = next((o for o in options if isinstance(o, str) and o.startswith("--")), None)
    if option is None:
        return None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    name = option.lstrip("-").replace("-", "_")
    if not name.isidentifier():
        return None
    action = keywords.get("action")
    switch = _switch(action)
    choices = literal_value(keywords.get("choices"))
    help_text = literal_value(keywords.get("help"))
    nargs = literal_value(keywords.get("nargs"))
    is_list = nargs in _LIST_NARGS or isinstance(nargs, int)
    default = literal_value(keywords.get("default"))
    if switch and default is UNKNOWN:
        default = switch == SWITCH_OFF
    kind = "bool" if switch else "str" if is_list else _kind(keywords.get("type"))
    parameter = make_parameter(
        name,
        kind,
        default,
        tuple(choices) if isinstance(choices, (list, tuple)) and not is_list else (),
        help_text if isinstance(help_text, str) else "",
    )
    return ScriptFlag(parameter, option, switch or VALUE, is_list)


def _switch(action: ast.expr | None) -> str:
    if action is None:
        return ""
    if ast.unparse(action).endswith("BooleanOptionalAction"):
        return PAIR
    name = literal_value(action)
    return _SWITCHES.get(name, "") if isinstance(name, str) else ""


def _kind(converter: ast.expr | None) -> str:
    """Return the type of a `type=` converter. CleanRL's own switches are `strtobool` lambdas."""
    if converter is None:
        return "str"
    source = ast.unparse(converter)
    if source in _CONVERTERS:
        return _CONVERTERS[source]
    return "bool" if "bool" in source.lower() else "str"


def read_help(text: str) -> ScriptFlags | None:
    """Return the flags that a help text lists, or None if it lists none.

    Reads argparse's layout, and the boxes of tyro.
    """
    is_tyro = _BOX in text
    flags: dict[str, ScriptFlag] = {}
    for line in text.splitlines():
        match = _HELP_FLAG.match(line.strip(f"{_BOX} \t"))
        if match:
            flag = _flag_of_help(match, is_tyro)
            if flag is not None:
                flags.setdefault(flag.parameter.name, flag)
    if not flags:
        return None
    return ScriptFlags(TYRO if is_tyro else ARGPARSE, tuple(flags.values()), "its --help")


def _flag_of_help(match: re.Match[str], is_tyro: bool) -> ScriptFlag | None:
    option = match["option"]
    name = option.lstrip("-").replace("-", "_")
    if name == "help" or not name.isidentifier():
        return None
    value = (match["value"] or "").replace("{None}|", "")
    text = match["text"].strip(f"{_BOX} ")
    if match["pair"]:
        return ScriptFlag(make_parameter(name, "bool", UNKNOWN, help_text=text), option, PAIR)
    if not value:
        boolean = PAIR if is_tyro else SWITCH
        return ScriptFlag(make_parameter(name, "bool", UNKNOWN, help_text=text), option, boolean)
    listed = _CHOICES.search(value)
    choices = tuple(listed[1].replace("|", ",").split(",")) if listed else ()
    if set(choices) == _BOOLEAN:
        return ScriptFlag(make_parameter(name, "bool", UNKNOWN, help_text=text), option, VALUE)
    kind = _METAVARS.get(value, "str") if is_tyro else "str"
    return ScriptFlag(make_parameter(name, kind, UNKNOWN, choices, text), option)
