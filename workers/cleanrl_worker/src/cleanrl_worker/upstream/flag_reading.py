"""Finds out which flags a script has: from its source, or else from its own `--help`."""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cleanrl_worker.upstream.argparse_calls import read_argparse_calls
from cleanrl_worker.upstream.args_dataclass import read_args_dataclass
from cleanrl_worker.upstream.help_text import read_help
from cleanrl_worker.upstream.script_flags import TYRO, ScriptFlags
from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.upstream.script_location import ScriptLocation

_HELP_SECONDS = 60.0
_SIGNS_OF_A_PARSER = ("argparse", "tyro", "click", "hydra", "fire", "sys.argv", "parse", "cli")
_UNKNOWN = ScriptFlags(TYRO, (), "")


def parse_source(location: ScriptLocation) -> ast.Module:
    """WorkerError when the file is no Python."""
    try:
        return ast.parse(location.path.read_text(encoding="utf-8"), filename=str(location.path))
    except (OSError, ValueError, SyntaxError) as error:
        raise WorkerError(
            f"{location.path} cannot be read as Python: {error}.", remedy="Correct the script."
        ) from error


def read_source_flags(location: ScriptLocation) -> ScriptFlags | None:
    """What the source shows, without running anything; None when it shows no flags."""
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
    """As the source shows them; a script that shows none is asked for its `--help`."""
    from_source = read_source_flags(location)
    if from_source is not None:
        return from_source
    source = location.path.read_text(encoding="utf-8")
    if not any(sign in source for sign in _SIGNS_OF_A_PARSER):
        return _UNKNOWN  # it would not answer, but train
    with tempfile.TemporaryDirectory() as elsewhere:  # in case that it writes files first
        try:
            answer = subprocess.run(
                [sys.executable, str(location.path), "--help"],
                env={**environment, "COLUMNS": "200"},
                cwd=elsewhere,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_HELP_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return _UNKNOWN
    if answer.returncode:
        return _UNKNOWN
    return read_help(answer.stdout.decode("utf-8", "replace")) or _UNKNOWN
