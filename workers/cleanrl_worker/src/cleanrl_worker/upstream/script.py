"""Runs a person's own CleanRL script. The worker's entry calls these three functions."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from cleanrl_worker.upstream.flag_reading import parse_source, read_source_flags
from cleanrl_worker.upstream.launch import plan_launch
from cleanrl_worker.upstream.provenance import provenance
from cleanrl_worker.upstream.script_location import locate_script
from mosaic_worker import Algorithm
from mosaic_worker.descriptor import RESERVED_NAMES

if TYPE_CHECKING:
    from mosaic_worker import Run, RunConfig


def describe_script(script: str) -> Algorithm:
    """The script as an algorithm with parameters, read from its source; nothing is run.

    Flags that are fields of every run (environment, seed, steps) are not among the parameters.
    """
    location = locate_script(script)
    flags = read_source_flags(location)
    parameters = tuple(
        flag.parameter
        for flag in (flags.flags if flags else ())
        if flag.parameter.name not in RESERVED_NAMES
    )
    doc = ast.get_docstring(parse_source(location)) or ""
    read = f"Its flags were read from {flags.source}." if flags else "It shows no flags."
    return Algorithm(
        id=location.name,
        label=location.name,
        doc=f"{doc}\n\n{location.sentence()} {read}".strip(),
        parameters=parameters,
        gpu="optional",
    )


def script_plan(config: RunConfig) -> dict[str, Any]:
    """What `--dry-run --emit-summary` says of a script beyond the rest."""
    launch = plan_launch(config)
    source = provenance(launch.location)
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
    """Train with the script that the run names; WorkerError when it fails."""
    from cleanrl_worker.upstream.script_run import ScriptRun  # noqa: PLC0415 - not for --describe

    ScriptRun(run, plan_launch(run.config)).live()
    return None
