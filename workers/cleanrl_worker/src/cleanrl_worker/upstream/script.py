"""Describes, plans and runs a user's own CleanRL script; `cleanrl_worker.cli` calls these."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from cleanrl_worker.upstream.flag_reading import parse_source, read_source_flags
from cleanrl_worker.upstream.launch import plan_launch
from cleanrl_worker.upstream.run_files import read_provenance
from cleanrl_worker.upstream.script_location import locate_script
from mosaic_worker import Algorithm
from mosaic_worker.descriptor import RESERVED_NAMES

if TYPE_CHECKING:
    from mosaic_worker import Run, RunConfig


def describe_script(script: str) -> Algorithm:
    """Return the script as an algorithm; its parameters are read from its source code.

    Flags that are fields of every run (environment, seed, steps) are not parameters.
    """
    location = locate_script(script)
    flags = read_source_flags(location)
    parameters = tuple(
        flag.parameter
        for flag in (flags.flags if flags else ())
        if flag.parameter.name not in RESERVED_NAMES
    )
    doc = ast.get_docstring(parse_source(location)) or ""
    source = f"Its flags were read from {flags.source}." if flags else "It has no flags."
    return Algorithm(
        id=location.name,
        label=location.name,
        doc=f"{doc}\n\n{location.sentence()} {source}".strip(),
        parameters=parameters,
        gpu="optional",
    )


def script_plan(config: RunConfig) -> dict[str, Any]:
    """Return the script's fields of `--dry-run --emit-summary`."""
    launch = plan_launch(config)
    source = read_provenance(launch.location)
    return {
        "module": launch.location.name,
        "argv": launch.argv,
        "python": sys.executable,
        "script": {
            **source._asdict(),
            "found": launch.location.sentence(),
            "flags": launch.flags.source,
            "style": launch.flags.style,
            "unused": list(launch.command.unused),
            "wandb_offline": launch.offline_reason,
        },
    }


def run_script(run: Run) -> int | None:
    """Train with the run's script. Raises `WorkerError` if it fails."""
    from cleanrl_worker.upstream.script_run import ScriptRun  # noqa: PLC0415 - not needed by --describe

    ScriptRun(run, plan_launch(run.config)).execute()
    return None
